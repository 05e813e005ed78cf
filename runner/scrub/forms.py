"""The forms in which one secret may stand in a text: as it is, escaped once or twice, and in base64 of anything."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

from runner.scrub.rules import SHORTEST

MOST = 128
"""Forms of one value; the likeliest come first."""

_ESCAPED = re.compile(r"%[0-9A-F]{2}")


def forms(value: str) -> tuple[str, ...]:
    """Every form of a value that is long enough to be looked for, the value itself first.

    URL encodings with the usual sets of safe characters and both cases of hex digits, JSON strings, HTML text and
    attributes, Python and JavaScript literals; any of these within another; base64 and base64url, wherever in the
    encoded data the value begins.
    """
    once = _escaped(value)
    encoded = _in_base64(value.encode("utf-8", "surrogatepass"))
    nested = (more for form in once if form != value for more in _escaped(form))
    wrapped = (more for form in encoded for more in _escaped(form))
    found = dict.fromkeys((value, *once, *encoded, *nested, *wrapped))
    return tuple(form for form in found if len(form) >= SHORTEST)[:MOST]


def _escaped(value: str) -> tuple[str, ...]:
    """The value in each kind of escapes, most of them the value itself."""
    percent = [way(value) for way in _PERCENT] if not _surrogates(value) else []
    quoted = (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    return (*percent, *(_ESCAPED.sub(lambda hexed: hexed[0].lower(), text) for text in percent), *quoted,
            *(text.replace("/", r"\/") for text in quoted), html.escape(value, quote=False), html.escape(value),
            html.escape(value, quote=False).replace('"', "&quot;"), html.escape(value).replace("&#x27;", "&#39;"),
            html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
            value.replace("&", "&amp;").replace('"', "&quot;"), repr(value)[1:-1], ascii(value)[1:-1],
            value.replace("\\", "\\\\").replace("'", r"\'"))


_PERCENT: tuple[Callable[[str], str], ...] = (
    lambda value: quote(value, safe=""), lambda value: quote(value, safe="!'()*"), quote_plus, quote,
    lambda value: quote(value, safe="!$&'()*+,;=:@/?"), lambda value: quote_plus(value, safe="*"),
    lambda value: "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}"
                          for byte in value.encode()))
"""Strict, ``encodeURIComponent``, a form's, a path's, what browsers leave in a query, ``URLSearchParams``, zealous."""


def _surrogates(value: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in value)


def _in_base64(raw: bytes) -> list[str]:
    """Base64 that holds these bytes at any place: the characters that they alone decide, and the whole of it."""
    found = [base64.b64encode(raw).decode()]
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + raw).decode().rstrip("=")
        first = (0, 2, 3)[shift]
        last = len(text) if (shift + len(raw)) % 3 == 0 else len(text) - 1
        found.append(text[first:last])
    return found + [text.replace("+", "-").replace("/", "_") for text in found]
