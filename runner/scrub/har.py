"""Secrets in an HTTP archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/), as Playwright writes it.

Playwright's additions: ``_webSocketMessages`` of an entry, and ``_file`` or ``_sha1`` where a body is kept elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from runner.scrub.bodies import scrub_text_body
from runner.scrub.rules import DROPPED
from runner.scrub.words import Words

MOST = 64 << 20
"""Bytes of an archive that is read."""

Part = Callable[[Any, Words], Any]


class Unscrubbable(Exception):
    """What cannot be read, or is too large, cannot be scrubbed and so is not to be stored. The message tells why."""


def scrub_har_file(raw: bytes, words: Words) -> bytes:
    """A ``.har`` file. Raises :class:`Unscrubbable`."""
    if len(raw) > MOST:
        raise Unscrubbable(f"the HAR has {len(raw)} bytes, more than {MOST}")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unscrubbable(f"the HAR is no JSON: {type(error).__name__}") from error
    return json.dumps(scrub_har(document, words), ensure_ascii=True, separators=(",", ":")).encode()


def scrub_har(har: Any, words: Words) -> Any:
    """A whole archive, as a new value."""
    return _fields(har, words, {"log": lambda log, words: _fields(log, words, {"entries": _each(scrub_entry)})})


def scrub_entry(entry: Any, words: Words) -> Any:
    """One request and its response: an entry of a HAR, or of a trace's network file."""
    return _fields(entry, words, {"request": _request, "response": _response, "_webSocketMessages": _each(_frame)})


def _fields(value: Any, words: Words, parts: dict[str, Part]) -> Any:
    """An object whose named fields have rules of their own; anything else is any document."""
    if not isinstance(value, dict):
        return words.document(value)
    rest = words.document({name: item for name, item in value.items() if name not in parts})
    cleaned = dict(zip((name for name in value if name not in parts), rest.items(), strict=False))
    result: dict[str, Any] = {}
    for name, item in value.items():
        clean, inner = (name, parts[name](item, words)) if name in parts else cleaned.get(name, (name, DROPPED))
        result[clean] = inner
    return result


def _each(part: Part) -> Part:
    def every(value: Any, words: Words) -> Any:
        return [part(item, words) for item in value] if isinstance(value, list) else words.document(value)
    return every


def _request(request: Any, words: Words) -> Any:
    return _fields(request, words, {"url": _url, "headers": _each(_header), "cookies": _each(_cookie),
                                    "queryString": _each(_pair), "postData": _post_data})


def _response(response: Any, words: Words) -> Any:
    return _fields(response, words, {"redirectURL": _url, "headers": _each(_header), "cookies": _each(_cookie),
                                     "content": _content})


def _url(value: Any, words: Words) -> Any:
    return words.url(value) if isinstance(value, str) else words.document(value)


def _named(clean: Callable[[str, str], str]) -> Part:
    """A ``{"name": …, "value": …}`` whose value is told by its name."""
    def pair(item: Any, words: Words) -> Any:
        if not isinstance(item, dict) or not isinstance(item.get("value"), str):
            return words.document(item)
        name = item["name"] if isinstance(item.get("name"), str) else ""
        return _fields(item, words, {"name": _text,
                                     "value": lambda text, _: clean(name, text)})
    return pair


def _text(value: Any, words: Words) -> Any:
    return words.text(value) if isinstance(value, str) else words.document(value)


def _header(item: Any, words: Words) -> Any:
    return _named(words.header)(item, words)


def _cookie(item: Any, words: Words) -> Any:
    return _named(words.cookie)(item, words)


def _pair(item: Any, words: Words) -> Any:
    return _named(words.pair)(item, words)


def _post_data(value: Any, words: Words) -> Any:
    """``text``, and the same again as ``params``."""
    kind = _kind(value)
    return _fields(value, words, {"params": _each(_pair), "text": lambda text, words: (
        scrub_text_body(text, kind, words) if isinstance(text, str) else words.document(text))})


def _content(value: Any, words: Words) -> Any:
    """A response's body; ``size`` and ``encoding`` follow what became of it."""
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return words.document(value)
    text, kind = value["text"], _kind(value)
    clean = _base64(text, kind, words) if value.get("encoding") == "base64" else scrub_text_body(text, kind, words)
    rest = _fields({name: item for name, item in value.items() if name != "text"}, words, {})
    if clean == text:
        return {name: text if name == "text" else rest.get(name) for name in value}
    size, rest = _size(clean, value.get("encoding")), {**rest, "text": clean}
    if clean == DROPPED:
        size = len(DROPPED)
        rest.pop("encoding", None)
    return {name: size if name == "size" else rest[name] for name in value if name in rest}


def _size(text: str, encoding: Any) -> int:
    raw = text.encode("utf-8", "surrogatepass")
    return len(base64.b64decode(raw)) if encoding == "base64" and text != DROPPED else len(raw)


def _base64(text: str, kind: str, words: Words) -> str:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return DROPPED
    clean = words.data(raw, kind)
    if clean == DROPPED.encode():
        return DROPPED
    return text if clean == raw else base64.b64encode(clean).decode()


def _kind(value: Any) -> str:
    kind = value.get("mimeType") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _frame(message: Any, words: Words) -> Any:
    """A message of a websocket; those of opcode 2 are in base64."""
    if not isinstance(message, dict) or not isinstance(message.get("data"), str):
        return words.document(message)
    if message.get("opcode") == 2:
        clean = _base64(message["data"], "", words).replace(DROPPED, base64.b64encode(DROPPED.encode()).decode())
    else:
        clean = words.text(message["data"])
    return _fields(message, words, {"data": lambda _text, _words: clean})
