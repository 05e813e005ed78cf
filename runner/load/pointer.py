"""JSON Pointers (RFC 6901), as LiteTraffic reads them: an index may have leading zeros, ``-`` is none."""

from __future__ import annotations

from typing import Any

ABSENT: Any = object()
"""What is at a pointer that leads nowhere."""


def at_pointer(document: Any, pointer: str) -> Any:
    """The value there, or :data:`ABSENT`."""
    if not pointer:
        return document
    found = document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(found):
            found = found[int(key)]
        else:
            return ABSENT
    return found
