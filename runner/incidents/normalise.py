"""Taking out of texts and URLs what is another in every run, and nothing that tells two failures apart.

Everything here is a fixed table of replacements, so that an identity made years ago can be made again. Replaced by a
placeholder in braces are, in this order: moments in ISO form, UUIDs, addresses and long hex words, numbers of five
digits and more or with a fraction. Shorter numbers stay: a status, an index or a step number tells failures apart, and
a counter that starts anew with the application is the same in every run.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MAX_MESSAGE = 400
"""Characters of a message that count."""

MAX_URL = 300
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  (compared, never bound)
"""Hosts that are this machine, or, in the sandbox, the application's container."""

_URL = re.compile(r"\b(?:https?|wss?|blob|file)://[^\s'\"`<>()]{1,2048}")
_PLACE = re.compile(r"(?::\d{1,9}){1,2}$")
_SNIPPET = re.compile(r"""(["'`])[^\n]{0,80}?\1(?:\.\.\.)?(?= is not valid JSON)""")
_TOKEN = re.compile(r"(Unexpected (?:non-whitespace character|token)) (?:'[^'\n]{1,8}'|[^\s,]{1,8})(?=,| in JSON)")
_POSITION = re.compile(r"\b(position|line|column) \d+\b")
_QUOTED = re.compile(r"(?<!\w)'[^'\n]{65,}'|\"[^\"\n]{65,}\"|`[^`\n]{65,}`")

_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "{time}"),
    (re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9a-zA-Z])"), "{uuid}"),
    (re.compile(r"\b0x[0-9a-fA-F]{3,}\b"), "{hex}"),
    # A word of hex digits is taken for one only with a digit in it: "deadbeef" alone could be English.
    (re.compile(r"(?<![0-9a-zA-Z])(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{8,}(?![0-9a-zA-Z])"), "{hex}"),
    (re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])"), "{n}"),
    (re.compile(r"(?<!\w)\d{5,}(?!\d)"), "{n}"),
)
_BUILD = re.compile(r"(?<=[.\-_])(?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{8,32}(?=(?:\.min)?\.(?:m?js|css)$)")
_SPACE = re.compile(r"\s+")
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


def normal_message(text: str) -> str:
    """A message without what varies, on one line, cut at :data:`MAX_MESSAGE` characters.

    Quoted words stay as they are but for ids in them, because they often are the only difference between two bugs
    ("reading 'items'"); quotations of more than 64 characters, and the pieces of input that a JSON parser quotes, are
    data and go. URLs are reduced as :func:`normal_url` does, and without line and column: an error that is written to
    the console brings its stack.
    """
    text = text[:MAX_MESSAGE * 5]
    if "JSON" in text:
        text = _POSITION.sub(r"\1 {n}", _TOKEN.sub(r"\1 {text}", _SNIPPET.sub("{text}", text)))
    text = _QUOTED.sub("{text}", text)
    pieces, end = [], 0
    for found in _URL.finditer(text):
        url = found[0].rstrip(".,;:!?")
        pieces += [_without_ids(text[end:found.start()]), normal_url(_without_place(url))]
        end = found.start() + len(url)
    pieces.append(_without_ids(text[end:]))
    return _SPACE.sub(" ", "".join(pieces)).strip()[:MAX_MESSAGE]


def _without_place(url: str) -> str:
    """``http://host/app.js:12:3`` without line and column; the port after a host alone stays."""
    host, slash, path = url.partition("://")[2].partition("/")
    return url[:len(url) - len(path)] + _PLACE.sub("", path) if slash and host else url


def normal_url(url: str) -> str:
    """A URL as a pattern: scheme, host and port, path with placeholders for ids, names of its query's keys.

    Names of this machine are one name, default ports and user names are left out, and so are values of the query,
    which differ from run to run, and the fragment, which no server sees. A text that is no URL is reduced as text.
    """
    try:
        parts = urlsplit(url.strip()[:8192])
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        return _without_ids(_SPACE.sub(" ", url))[:MAX_URL]
    if parts.scheme in ("data", "blob", "javascript"):
        return f"{parts.scheme}:"
    place = ""
    if host:
        host = "127.0.0.1" if host in LOOPBACK else f"[{host}]" if ":" in host else host
        place = f"{parts.scheme}://{host}" + (f":{port}" if port and port != _PORTS.get(parts.scheme) else "")
    return (place + normal_path(parts.path or ("/" if host else "")) + _keys(parts.query))[:MAX_URL]


def normal_path(path: str) -> str:
    """A URL's path with placeholders for ids, and for the digests that builds put into the names of scripts."""
    segments = path.split("/")
    return "/".join(_BUILD.sub("{build}", _without_ids(segment)) for segment in segments)


def _without_ids(text: str) -> str:
    for pattern, placeholder in _VARYING:
        text = pattern.sub(placeholder, text)
    return text


def _keys(query: str) -> str:
    keys = sorted({piece.split("=", 1)[0] for piece in query.split("&")[:64] if piece})
    return "?" + "&".join(keys) if keys else ""
