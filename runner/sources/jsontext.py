"""JSON of strangers, parsed within bounds, and canonical JSON of our own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from runner.errors import ReportError
from runner.sources.wording import quoted

MAX_DEPTH = 100
MAX_CONTAINERS = 200_000
"""Each takes far more memory than the two bytes that spell it."""

MAX_NUMBER_CHARS = 4300
"""Python's own limit for turning text into an integer, which is also what ReproMin accepts."""

_BOM = b"\xef\xbb\xbf"
# The next bracket outside a string, or the end. Possessive, with a closing quote optional, so that it always
# matches and no text, however broken, is scanned twice.
_NEXT_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"?+)*+([\[\]{}]|\Z)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed JSON text. Of a repeated key the last value wins, as in Python's own parser.

    ``duplicate`` is the first repeated key, ``widest`` the largest number of keys in one object.
    """

    value: object
    duplicate: str | None
    widest: int


def parse_json(raw: bytes) -> Document:
    """Parse UTF-8 JSON. ``NaN`` and ``Infinity`` are parsed, to be refused by the checks of the fields.

    Raises ReportError for anything else that is not JSON, is nested deeper than :data:`MAX_DEPTH`, has more
    than :data:`MAX_CONTAINERS` objects and arrays, or an integer longer than :data:`MAX_NUMBER_CHARS`.
    """
    if raw.startswith(_BOM):
        raise ReportError("starts with a byte order mark, expected plain UTF-8 JSON")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReportError(f"is not UTF-8 (byte {error.start}), expected UTF-8 JSON") from None
    _check_structure(raw)
    keys = _KeyWatch()
    try:
        value = json.loads(text, object_pairs_hook=keys.build, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise ReportError(f"is not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    return Document(value, keys.duplicate, keys.widest)


def _check_structure(raw: bytes) -> None:
    depth = opened = 0
    for token in _NEXT_BRACKET.finditer(raw):
        bracket = token[1]
        if bracket in (b"[", b"{"):
            depth += 1
            opened += 1
            if depth > MAX_DEPTH:
                raise ReportError(f"is nested deeper than {MAX_DEPTH} levels")
            if opened > MAX_CONTAINERS:
                raise ReportError(f"has more than {MAX_CONTAINERS} objects and arrays")
        elif bracket:
            depth -= 1


def _integer(text: str) -> int:
    try:
        if len(text) <= MAX_NUMBER_CHARS:
            return int(text)
    except ValueError:
        pass  # a lower limit was set for this interpreter; the same answer
    raise ReportError(f"has an integer of {len(text)} digits, expected at most {MAX_NUMBER_CHARS}")


class _KeyWatch:
    """Builds objects and remembers what a plain dict forgets."""

    def __init__(self) -> None:
        self.duplicate: str | None = None
        self.widest = 0

    def build(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        self.widest = max(self.widest, len(result))
        if len(result) != len(pairs) and self.duplicate is None:
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.duplicate = key
                    break
                seen.add(key)
        return result


def refuse_duplicates(document: Document) -> None:
    """Raise ReportError when a key occurs twice in one object."""
    if document.duplicate is not None:
        raise ReportError(f"has the key {quoted(document.duplicate)} twice in one object")


def canonical_json(value: object) -> bytes:
    """Sorted keys, 2-space indent, ASCII only, one final newline: equal values are equal bytes."""
    return (json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n").encode("ascii")
