"""The controller's half of the talk with our init: the release it waits for, the trailer it ends with.

Both formats are described where they are written: ``images/steward/init.c`` and ``init_trailer.c``.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable
from typing import Literal

from runner.errors import UsageError, printable
from runner.sandbox.exit import Trailer

TRAILER_BYTES = 201
"""Exact length of a trailer; a backend holds that much of the end of stderr back."""

NONCE_BYTES = 32
MAX_ENVIRONMENT = 1 << 20
"""Bytes of all ``NAME=VALUE`` entries together, their NULs included."""

_MAGIC = b"RUNINIT1"
_UNKNOWN = b"9" * 20
_SHAPE = re.compile(
    rb"\x00RUNNER-TRAILER-1 ([0-9a-f]{64}) ([ESN]) ([0-9]{10})" + rb" ([0-9]{20})" * 5 + rb"\n")
_KINDS: dict[bytes, tuple[Literal["exited", "signaled", "not_started"], range]] = {
    b"E": ("exited", range(256)),
    b"S": ("signaled", range(1, 65)),
    b"N": ("not_started", range(1, 4096)),
}


def new_nonce() -> bytes:
    """A fresh secret of one run."""
    return secrets.token_bytes(NONCE_BYTES)


def release_message(nonce: bytes, env: Iterable[tuple[str, str]]) -> bytes:
    """What releases the workload: sent once over the container's stdin, which then stays open as its leash.

    Values may hold any bytes but NUL (as surrogate escapes). Raises UsageError, never quoting a value.
    """
    entries: dict[str, bytes] = {}
    for name, value in env:
        if not name or "=" in name or "\0" in name:
            raise UsageError(f"{printable(name)!r} cannot name an environment variable")
        if name in entries:
            raise UsageError(f"the environment variable {printable(name)} is given twice")
        if "\0" in value:
            raise UsageError(f"the value of the environment variable {printable(name)} holds a NUL")
        entries[name] = _encode(name, f"{name}={value}") + b"\0"
    block = b"".join(entries.values())
    if len(block) > MAX_ENVIRONMENT:
        raise UsageError(f"the environment takes {len(block)} bytes, more than {MAX_ENVIRONMENT}")
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
    return _MAGIC + nonce + len(block).to_bytes(4, "big") + block


def split_trailer(tail: bytes, nonce: bytes) -> tuple[bytes, Trailer | None]:
    """The end of stderr without the trailer, and the trailer; ``tail`` as it was when there is none of ours.

    Something of the same form with another nonce is ordinary output: the workload wrote it.
    """
    found = _SHAPE.fullmatch(tail[-TRAILER_BYTES:])
    if found is None or not hmac.compare_digest(found[1], nonce.hex().encode()):
        return tail, None
    kind, codes = _KINDS[found[2]]
    code = int(found[3])
    if code not in codes:
        return tail, None
    return tail[:-TRAILER_BYTES], Trailer(
        kind=kind, code=code, user_us=int(found[4]), system_us=int(found[5]), max_rss=int(found[6]),
        peak_memory=_known(found[7]), oom_kills=_known(found[8]))


def _known(figure: bytes) -> int | None:
    return None if figure == _UNKNOWN else int(figure)


def _encode(name: str, entry: str) -> bytes:
    try:
        return entry.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise UsageError(f"the environment variable {printable(name)} cannot be encoded") from None
