"""Secrets that a text gives away by their own shape: credentials of known kinds, ``sk-`` keys, card numbers."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from runner.scrub.credentials import KINDS, Span, credential_spans

_SK = re.compile(rb"(?<![A-Za-z0-9])sk-((?=[A-Za-z_-]*+[0-9])[A-Za-z0-9_-]{20,}+)")
_BASIC = re.compile(rb"(?i:\bbasic)[ \t]{1,8}([A-Za-z0-9+/]{8,}+={0,2})")
_CARD = re.compile(rb"(?<![\w.])(?:[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|"
                   rb"[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5})(?![\w]|\.[0-9])")
_ISSUER = re.compile(rb"4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2[2-7][0-9]{14}|3[47][0-9]{13}|3[068][0-9]{12}|"
                     rb"6[0-9]{15,18}|35[0-9]{14}")
"""Lengths and first digits that card schemes give out (ISO/IEC 7812); times and identifiers seldom fit."""
_TELLING = re.compile("|".join((*sorted({re.escape(word.decode()) for kind in KINDS for word in kind.words}),
                                "PRIVATE KEY", "sk-", "basic", "[0-9]{4}")), re.IGNORECASE)
"""A short text without any of these holds nothing that is looked for here; asking once is cheaper."""
_SHORT = 512
_DOUBLED = bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9))


def shaped_spans(text: str) -> list[tuple[int, int]]:
    """Places in the text of whatever looks like a secret by itself."""
    if len(text) <= _SHORT and not _TELLING.search(text):
        return []
    raw = text.encode("utf-8", "surrogatepass")
    spans = sorted(_spans(raw))
    return spans if len(raw) == len(text) or not spans else _characters(raw, spans)


def _spans(raw: bytes) -> Iterator[Span]:
    yield from credential_spans(raw)
    if b"sk-" in raw:
        yield from (found.span(1) for found in _SK.finditer(raw))
    yield from (found.span(1) for found in _BASIC.finditer(raw) if decoded_basic(found[1].decode()))
    yield from (found.span() for found in _CARD.finditer(raw) if is_card(re.sub(rb"[ -]", b"", found[0])))


def _characters(raw: bytes, spans: list[Span]) -> list[Span]:
    """Byte offsets as character offsets, in one pass."""
    marks = sorted({offset for span in spans for offset in span})
    at, characters, place = 0, 0, {}
    for mark in marks:
        characters += len(raw[at:mark].decode("utf-8", "surrogatepass"))
        at, place[mark] = mark, characters
    return [(place[start], place[end]) for start, end in spans]


def is_card(digits: bytes) -> bool:
    """Whether digits are a payment card's number, by issuer, length and the Luhn check digit."""
    if not _ISSUER.fullmatch(digits):
        return False
    values = [digit - 48 for digit in reversed(digits)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0


def decoded_basic(text: str) -> tuple[str, str] | None:
    """User and password of ``Basic`` credentials (RFC 7617), or ``None``."""
    try:
        user, colon, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None
