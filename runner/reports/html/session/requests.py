"""The session's requests, as its HAR has them. Scrubbed when it was written; what cannot be read is not shown."""

from __future__ import annotations

import json
from typing import Any

from runner.reports.html.session.view import Grid
from runner.reports.html.words import size

_MOST = 100
_COLUMNS = ("Method", "URL", "Status", "Type", "Size", "Time")
_LONGEST = 300


def requests_of(har: bytes) -> Grid:
    """The first 100 requests."""
    try:
        entries = json.loads(har)["log"]["entries"] if har else []
    except (ValueError, KeyError, TypeError, RecursionError):
        entries = []
    entries = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return Grid("What the browser asked for, in order", _COLUMNS, tuple(map(_row, entries[:_MOST])),
                max(0, len(entries) - _MOST))


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    request, response = _part(entry, "request"), _part(entry, "response")
    content = _part(response, "content")
    length, took = _number(content.get("size")), _number(entry.get("time"))
    return (_text(request.get("method")), _text(request.get("url")), _status(response.get("status")),
            _text(content.get("mimeType")).partition(";")[0], "" if length is None else size(int(length)),
            "" if took is None else f"{took:.0f} ms")


def _part(value: dict[str, Any], name: str) -> dict[str, Any]:
    part = value.get(name)
    return part if isinstance(part, dict) else {}


def _text(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _status(value: object) -> str:
    return "failed" if value in (-1, 0) else str(value) if type(value) is int else ""


def _number(value: object) -> float | None:
    return value if type(value) in (int, float) and 0 <= value < 1 << 40 else None  # type: ignore[operator, return-value]
