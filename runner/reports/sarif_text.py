"""Texts and digests for SARIF."""

from __future__ import annotations

from hashlib import sha256

from runner.errors import printable
from runner.evidence.events import canonical

_MAX_TEXT = 1_000


def digest(document: object) -> str:
    """Of the canonical JSON."""
    return sha256(canonical(document)).hexdigest()


def text(value: object) -> str:
    """A bounded text on one line."""
    return printable(str(value)[:_MAX_TEXT])


def literal(value: object) -> str:
    """For a message, in which ``[…](…)`` is a link and ``{0}`` a placeholder (SARIF 3.11.5, 3.11.6)."""
    shown = text(value)
    for plain, escaped in (("\\", "\\\\"), ("[", "\\["), ("]", "\\]"), ("{", "{{"), ("}", "}}")):
        shown = shown.replace(plain, escaped)
    return shown
