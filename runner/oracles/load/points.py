"""Lines of k6's JSON output (``k6 run --out json=FILE``), decoded as far as they matter here.

A line is ``{"metric": NAME, "type": "Point", "data": {"time": …, "value": …, "tags": {…}}}``, or with ``"type":
"Metric"`` tells of a metric once. Format: https://grafana.com/docs/k6/latest/results-output/real-time/json/ and k6
1.1.0's own output. Most lines are points of metrics that nothing here asks for, and those are told by their bytes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec

MAX_LINE = 1 << 16
"""Bytes of the longest line that is read. Tags hold a URL twice, so honest lines are far shorter."""

_HEAD = 24
_UNWANTED = frozenset(
    f'{{"metric":"{name}","type":"Point"'.encode()[:_HEAD]
    for name in ("http_req_blocked", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending",
                 "http_req_waiting", "http_req_receiving", "data_sent", "data_received", "vus", "group_duration"))
_CLOSINGS = (b"}}}\n", b"}}}", b"null}}\n", b"null}}")


class Tags(msgspec.Struct, gc=False, frozen=True):
    """The tags that count. All of k6's tags are text."""

    operation: str | None = None
    method: str | None = None
    status: str | None = None


class Data(msgspec.Struct, gc=False, frozen=True):
    """Where and what."""

    time: Annotated[datetime, msgspec.Meta(tz=True)]
    value: float
    tags: Tags | None = None


class Point(msgspec.Struct, gc=False, frozen=True):
    """One sample."""

    metric: str
    type: Literal["Point"]
    data: Data


NO_TAGS = Tags()
_DECODE = msgspec.json.Decoder(Point).decode


class Malformed(Exception):
    """A line that is neither a point nor says what a metric is."""


def is_unwanted(line: bytes) -> bool:
    """Whether this is, by its first and last bytes, a point of one of k6's metrics that nothing here asks for."""
    return line[:_HEAD] in _UNWANTED and line.endswith(_CLOSINGS)


def read_point(line: bytes) -> Point | None:
    """The point on this line, or ``None`` if it says what a metric is. Raises Malformed for anything else."""
    if len(line) > MAX_LINE:
        raise Malformed(f"longer than {MAX_LINE} bytes")
    try:
        return _DECODE(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        if _is_declaration(line):
            return None
        raise Malformed(str(error)[:200]) from None


class _Declaration(msgspec.Struct, gc=False, frozen=True):
    metric: str
    type: Literal["Metric"]


def _is_declaration(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=_Declaration)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True
