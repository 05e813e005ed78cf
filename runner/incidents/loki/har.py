"""What the HAR beside a LOKI incident adds: methods of failed responses, and which requests a fault answered."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner.browser.faults import FAULT_HEADER
from runner.errors import ReportError
from runner.sources.jsontext import parse_json
from runner.sources.reading import open_report

HAR_FILE = "network.har"
MAX_HAR_BYTES = 32 << 20
AUTH_HEADER = "x-loki-auth-chaos"
"""Of a request whose credentials LOKI took away or replaced."""
REDACTED = "[REDACTED]"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its answer. ``fault`` is the value of LOKI's header, empty for the application's own answer;
    ``body`` is the answer's, ``None`` where the HAR does not have all of it.
    """

    method: str
    url: str
    status: int
    fault: str = ""
    content_type: str = ""
    body: bytes | None = None


def read_har(path: str | os.PathLike[str]) -> tuple[Exchange, ...]:
    """The exchanges of a HAR in their order. Raises ReportError for a file that is none, or too large; single entries
    that are malformed are left out.
    """
    with open_report(path) as file:
        raw = file.read(MAX_HAR_BYTES + 1)
    if len(raw) > MAX_HAR_BYTES:
        raise ReportError(f"is larger than {MAX_HAR_BYTES >> 20} MiB")
    value = parse_json(raw).value
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise ReportError("has no entries")
    return tuple(exchange for entry in entries if (exchange := _exchange(entry)) is not None)


def same_url(recorded: str, url: str) -> bool:
    """Whether a URL is a recorded one, in which secrets may have been cut out, but for the fragment."""
    if recorded == url:
        return True
    parts = recorded.partition("#")[0].split(REDACTED)
    # Possessive, so that no recording, however odd, makes the search long.
    return re.fullmatch("[^&#/]*+".join(re.escape(part) for part in parts), url.partition("#")[0]) is not None


def _exchange(entry: object) -> Exchange | None:
    match entry:
        case {"request": {"method": str(method), "url": str(url)} as request,
              "response": {"status": int(status)} as response}:
            content = response.get("content")
            content = content if isinstance(content, dict) else {}
            fault = _header(response, FAULT_HEADER) or _header(request, AUTH_HEADER)
            kind = content.get("mimeType")
            return Exchange(method, url, status, fault, kind if isinstance(kind, str) else "", _body(content))
        case _:
            return None


def _header(part: Mapping[str, Any], name: str) -> str:
    for header in _headers(part):
        match header:
            case {"name": str(key), "value": str(value)} if key.lower() == name:
                return value
            case _:
                continue
    return ""


def _headers(part: Mapping[str, Any]) -> Iterator[object]:
    headers = part.get("headers")
    yield from headers if isinstance(headers, list) else ()


def _body(content: Mapping[str, Any]) -> bytes | None:
    text = content.get("text")
    if not isinstance(text, str) or not text or REDACTED in text:
        return None
    if content.get("encoding") != "base64":
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
