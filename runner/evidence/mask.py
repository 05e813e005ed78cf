"""Credentials are masked before anything is stored: each of their bytes becomes ``*``, so that offsets stay true.

Two sources: credentials of known kinds (:mod:`runner.scrub.credentials`), and the values of ``--env`` variables
whose names say that they are secret. Masking what is masked already changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from runner.errors import printable
from runner.scrub.credentials import Span, credential_spans

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:KEYS?|PASS|PWD)(?![A-Z])|AUTH(?!OR(?!I[SZ]))")
_NOT_SECRET = frozenset({"PWD", "OLDPWD"})
_LEAST = 4
_LEAST_LINE = 8
_LONGEST_EDGE = 4096
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{12,}")
_OURS = frozenset({
    "at", "backend", "cause", "cleanup", "completeness", "effective", "file", "files", "finished", "fingerprint_mode",
    "kind", "lifecycle", "matched", "mismatch_reason", "mode", "oracle_mode", "oracle_source", "outcome", "pace",
    "previous", "rate", "recorded_backend", "rule", "run_id", "sandbox", "schema", "source", "started", "state",
    "status", "stream", "timeout_source", "verdict", "workspace"})
"""Fields whose text comes from a list of our own, is a name or a time that we made, or that a digest covers
(``effective``: the policy, ``files``: those of a session or a load run). A short ``--env`` value must not change these
by accident."""


def is_secret_name(name: str) -> bool:
    """Whether a variable's name says that its value is nobody's business."""
    upper = name.upper()
    return upper not in _NOT_SECRET and _SECRET_NAME.search(upper) is not None


class Masker:
    """Masks bytes and documents. ``environment`` holds the variables that a person gave, names and values."""

    def __init__(self, environment: Iterable[tuple[str, str]] = ()) -> None:
        values = [value for name, value in environment if is_secret_name(name) and len(value) >= _LEAST]
        lines = [line for value in values for line in value.splitlines() if len(line) >= _LEAST_LINE]
        self._exactly = frozenset(values)
        self._values = tuple({_encoded(text) for text in (*values, *lines)})
        self._shown = tuple({_encoded(printable(text)) for text in (*values, *lines)} - set(self._values))

    def stream(self, head: bytes, tail: bytes = b"", *, truncated: bool = False) -> tuple[bytes, int]:
        """What is kept of a stream, masked, and how many bytes were. What ``truncated`` cuts in two is masked by its
        beginning in ``head``; a value of the environment by its end in ``tail`` too.
        """
        if not truncated:
            return self.data(head + tail)
        ends = (span for value in self._values for span in _beginning_at_the_end(value, head))
        starts = (span for value in self._values for span in _end_at_the_beginning(value, tail))
        first, masked = _masked(head, (*self._spans(head, self._values, cut=True), *ends))
        last, more = _masked(tail, (*self._spans(tail, self._values), *starts))
        return first + last, masked + more

    def data(self, data: bytes) -> tuple[bytes, int]:
        """Bytes of a file, masked, and how many of them were."""
        return _masked(data, self._spans(data, self._values))

    def text(self, text: str) -> str:
        """Text of ours that quotes others: values are looked for as they are, and as :func:`printable` shows them."""
        raw = _encoded(text)
        masked, count = _masked(raw, self._spans(raw, (*self._values, *self._shown)))
        return masked.decode("utf-8", "surrogatepass") if count else text

    def document(self, value: Any, key: str = "") -> Any:
        """Every string of a JSON document, except digests and what :data:`_OURS` names."""
        if isinstance(value, dict):
            return {name: item if name in _OURS else self.document(item, name) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(item, key) for item in value]
        if not isinstance(value, str) or (_DIGEST.fullmatch(value) and value not in self._exactly):
            return value
        return self.text(value)

    def _spans(self, data: bytes, values: tuple[bytes, ...], *, cut: bool = False) -> Iterator[Span]:
        for value in values:
            yield from _everywhere(value, data)
        yield from credential_spans(data, cut=cut)


def _everywhere(value: bytes, data: bytes) -> Iterator[Span]:
    """Every occurrence, or as many as cover the same bytes where they overlap."""
    at = data.find(value)
    while at >= 0:
        yield at, at + len(value)
        overlapping = data.rfind(value, at + 1, at + 2 * len(value) - 1)
        at = overlapping if overlapping >= 0 else data.find(value, at + len(value))


def _encoded(text: str) -> bytes:
    """As the workload got it: what came from bytes goes back to those bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _masked(data: bytes, spans: Iterable[Span]) -> tuple[bytes, int]:
    """The data with the spans covered, and how many bytes that changed."""
    covered: bytearray | None = None
    masked = 0
    for start, end in spans:
        covered = bytearray(data) if covered is None else covered
        masked += end - start - covered.count(b"*", start, end)
        covered[start:end] = b"*" * (end - start)
    return (data if covered is None else bytes(covered)), masked


def _beginning_at_the_end(value: bytes, data: bytes) -> Iterator[Span]:
    for size in range(min(len(value) - 1, _LONGEST_EDGE), _LEAST - 1, -1):
        if data.endswith(value[:size]):
            yield len(data) - size, len(data)
            return


def _end_at_the_beginning(value: bytes, data: bytes) -> Iterator[Span]:
    for size in range(min(len(value) - 1, _LONGEST_EDGE), _LEAST - 1, -1):
        if data.startswith(value[-size:]):
            yield 0, size
            return
