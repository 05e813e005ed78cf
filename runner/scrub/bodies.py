"""Secrets in bodies of any content type, in cookies, and in ``data:`` URLs.

What is neither text, nor a form, nor a picture, a font, a sound, a film or WebAssembly cannot be read here (archives,
compressed data, PDF): it may hold anything, so a marker takes its place.
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote, unquote_to_bytes

from runner.browser.redacted import REDACTED
from runner.scrub.rules import DROPPED, is_trivial
from runner.scrub.words import Words

_CHARSET = re.compile(r"charset=\"?([\w.:-]{1,40})", re.IGNORECASE)
_BOUNDARY = re.compile(r"boundary=\"?([^\";,\s]{1,200})", re.IGNORECASE)
_PART_NAME = re.compile(r"(?:^|[;\s])name=(?:\"((?:[^\"\\]|\\.){0,512})\"|([^\s;]{1,512}))", re.IGNORECASE)
_PART_TYPE = re.compile(r"^content-type:[ \t]*([^\r\n]{1,200})", re.IGNORECASE | re.MULTILINE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_PICTURES = re.compile(
    rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF....(?:WEBP|WAVE|AVI )|BM....\x00\x00\x00\x00|\x00\x00\x01\x00|"
    rb"....ftyp|wOF[F2]|OTTO|true\x00|\x00\x01\x00\x00\x00|\x1aE\xdf\xa3|OggS|ID3|\xff[\xfb\xf3\xf2]|fLaC|"
    rb"\x00asm\x01\x00\x00\x00", re.DOTALL)
"""First bytes of pictures, fonts, sounds, films and WebAssembly; what a server calls them does not count."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SEPARATORS = re.compile(r"(;[ \t]*|\n)")


def scrub_data(data: bytes, content_type: str, words: Words) -> bytes:
    """A body. One without a secret comes back byte for byte."""
    if not data or _PICTURES.match(data):
        return data
    kind = content_type.lower()
    if kind.startswith("multipart/"):
        return _multipart(data, content_type, words)
    mark, charset = _charset(data, content_type)
    text = decoded(data[len(mark):], charset)
    if text is None:
        return DROPPED.encode()
    clean = words.form(text) if kind.startswith("application/x-www-form-urlencoded") else words.text(text)
    return data if clean == text else mark + clean.encode(charset or "utf-8", "surrogatepass")


def decoded(data: bytes, charset: str) -> str | None:
    """The text that these bytes are, or ``None`` for what is none. An empty ``charset`` stands for UTF-8."""
    try:
        text = data.decode(charset or "utf-8")
        whole = text.encode(charset or "utf-8") == data
    except (UnicodeError, LookupError, ValueError):
        return None
    return text if whole and not _CONTROLS.search(text) else None


def _charset(data: bytes, content_type: str) -> tuple[bytes, str]:
    """The mark that the data begin with, and their encoding: by the mark, as declared, or the first that fits."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return mark, charset
    declared = _CHARSET.search(content_type)
    candidates = (*((declared[1],) if declared else ()), "utf-8", "cp1252")
    return b"", next((one for one in candidates if decoded(data, one) is not None), "utf-8")


def scrub_text_body(text: str, content_type: str, words: Words) -> str:
    """A body that was stored as text already."""
    return scrub_data(text.encode("utf-8", "surrogatepass"), _CHARSET.sub("", content_type), words).decode(
        "utf-8", "surrogatepass")


def _multipart(data: bytes, content_type: str, words: Words) -> bytes:
    """Part by part (RFC 7578). Each part is a body of its own; without a boundary nothing can be told."""
    named = _BOUNDARY.search(content_type)
    boundary = b"--" + named[1].encode() if named else data[:202].split(b"\r\n", 1)[0].rstrip()
    if len(boundary) < 3 or not boundary.startswith(b"--") or boundary not in data:
        return data if data == DROPPED.encode() else DROPPED.encode()
    return boundary.join(_part(part, words) for part in data.split(boundary))


def _part(part: bytes, words: Words) -> bytes:
    head, blank, body = part.partition(b"\r\n\r\n")
    if not blank:
        return scrub_data(part, "", words)
    told = head.decode("utf-8", "replace")
    name, kind = _PART_NAME.search(told), _PART_TYPE.search(told)
    inner, end = (body[:-2], b"\r\n") if body.endswith(b"\r\n") else (body, b"")
    if name and words.secret_name(name[1] or name[2] or ""):
        value = inner.decode("utf-8", "replace")
        inner = inner if is_trivial(value) else words.secret(value).encode()
    else:
        inner = scrub_data(inner, kind[1] if kind else "", words)
    return scrub_data(head, "", words) + blank + inner + end


def scrub_cookies(value: str, words: Words, *, several: bool) -> str:
    """``Cookie`` (``several``: every value) or ``Set-Cookie`` (the first of each line); attributes and names stay."""
    parts, first = _SEPARATORS.split(value), True
    for at, part in enumerate(parts):
        if at % 2:
            first = several or part == "\n"
            continue
        name, equals, worth = part.partition("=")
        if first and part:
            parts[at] = f"{name}={words.cookie(name.strip(), worth)}" if equals else words.cookie("", part)
        else:
            parts[at] = words.text(part)
    return "".join(parts)


def scrub_data_url(kind: str, encoded: bool, body: str, words: Words) -> str:
    """The body of a ``data:`` URL, encoded as it was."""
    if REDACTED in body or body == DROPPED:
        return words.text(body)
    if not encoded:
        raw = unquote_to_bytes(body)
        clean = scrub_data(raw, kind, words)
        return body if clean == raw else quote(clean, safe="[]:/,;= ")
    try:
        raw = base64.b64decode(unquote_to_bytes(body), validate=True)
    except binascii.Error:
        return DROPPED
    clean = scrub_data(raw, kind, words)
    return body if clean == raw else base64.b64encode(clean).decode()
