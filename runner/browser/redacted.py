"""What stands for a secret in stored evidence, and how stored text is compared with text that was just seen.

A URL or a message that lost a secret can still be recognised: what is left of it must be there, in order.
"""

from __future__ import annotations

REDACTED = "[REDACTED]"
"""Stands for a secret of any length. It holds no character that could begin or end a value around it."""


def fits_redacted(stored: str, seen: str) -> bool:
    """Whether ``seen`` is ``stored``, each :data:`REDACTED` in it standing for anything. Linear, whatever the texts."""
    first, *parts = stored.split(REDACTED)
    if not parts:
        return stored == seen
    *middle, last = parts
    at = len(first)
    if not seen.startswith(first) or len(seen) < at + len(last) or not seen.endswith(last):
        return False
    end = len(seen) - len(last)
    for part in middle:
        found = seen.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
