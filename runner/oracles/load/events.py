"""LT_EVENT lines of a console: what a script says of its journeys. Strangers wrote it, so it is read within bounds.

The format is LiteTraffic's: ``LT_EVENT `` anywhere in a line, then a JSON object; what follows it is ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from runner.errors import printable
from runner.oracles.load.model import Event, Events

MARK = b"LT_EVENT "
MAX_EVENT = 1 << 18
"""Bytes of the longest line, from its mark on."""
MAX_EVENTS = 200_000
"""How many are kept; the others are counted as malformed."""
MAX_DEPTH = 100
MAX_DETAIL = 500


class Fault(ValueError):
    """A rule of the format that a line breaks, in words."""


class Foreign(Fault):
    """An event of another run."""


def read_events(console: bytes, run_id: str) -> Events:
    """All events of one run, in the order of their lines. Lines that break a rule are counted, with the first fault."""
    events: list[Event] = []
    malformed = foreign = 0
    first_fault = ""
    for text in _marked(console):
        try:
            if len(events) >= MAX_EVENTS:
                raise Fault(f"more than {MAX_EVENTS} events")
            events.append(_event(_first_value(text), run_id, len(events) + 1))
        except (Fault, RecursionError) as fault:
            malformed += 1
            foreign += isinstance(fault, Foreign)
            first_fault = first_fault or (str(fault) if isinstance(fault, Fault) else "is nested too deep")
    return Events(tuple(events), malformed, foreign, printable(first_fault[:300]))


def events_jsonl(events: Events) -> bytes:
    """The text of ``events/000001.jsonl``: one event a line, its ``sequence`` first."""
    return b"".join(json.dumps(event.document, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
                    + b"\n" for event in events.events)


def _marked(console: bytes) -> Iterator[bytes]:
    """What follows the first mark of each line that has one."""
    place = console.find(MARK)
    while place >= 0:
        end = console.find(b"\n", place)
        end = len(console) if end < 0 else end
        yield console[place + len(MARK):min(end, place + MAX_EVENT + 1)]
        place = console.find(MARK, end)


def _first_value(raw: bytes) -> Any:
    if len(raw) + len(MARK) > MAX_EVENT:
        raise Fault(f"is longer than {MAX_EVENT} bytes")
    text = raw.decode("utf-8", "replace").lstrip(" \t\r")
    try:
        value, _ = _DECODER.raw_decode(text)
    except Fault:
        raise
    except ValueError:
        raise Fault("is not JSON") from None
    if _deeper(value, MAX_DEPTH):
        raise Fault(f"is nested deeper than {MAX_DEPTH} levels")
    return value


def _event(value: Any, run_id: str, number: int) -> Event:
    if not isinstance(value, dict):
        raise Fault("is not an object")
    if type(value.get("schema_version")) is not int or value["schema_version"] != 1:
        raise Fault("schema_version is not 1")
    kind = value.get("type")
    if kind not in ("assertion", "stage"):
        raise Fault("type is neither assertion nor stage")
    if not isinstance(value.get("run_id"), str):
        raise Fault("run_id is not text")
    if value["run_id"] != run_id:
        raise Foreign("is of another run")
    name, key = _text(value, kind), _optional_text(value, "logical_key")
    given = value.get("sequence")
    sequence = given if type(given) is int else number
    document = {"sequence": sequence, **{field: item for field, item in value.items() if field != "sequence"}}
    if kind == "stage":
        if key is None:
            raise Fault("a stage has no logical_key")
        return Event(sequence, "stage", name, key, None, document)
    if not isinstance(value.get("passed"), bool):
        raise Fault("passed is not true or false")
    if len(_optional_text(value, "detail") or "") > MAX_DETAIL:
        raise Fault(f"detail is longer than {MAX_DETAIL} characters")
    return Event(sequence, "assertion", name, key, value["passed"], document)


def _text(value: dict[str, Any], field: str) -> str:
    text = value.get(field)
    if not isinstance(text, str):
        raise Fault(f"{field} is not text")
    return text


def _optional_text(value: dict[str, Any], field: str) -> str | None:
    """``null`` counts as absent."""
    text = value.get(field)
    if text is not None and not isinstance(text, str):
        raise Fault(f"{field} is not text")
    return text


def _deeper(value: Any, levels: int) -> bool:
    """Whether a value has more levels than this, without recursing further than that."""
    if not isinstance(value, dict | list):
        return False
    if levels == 0:
        return True
    return any(_deeper(item, levels - 1) for item in (value.values() if isinstance(value, dict) else value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Fault("has a key twice in one object")
    return result


def _constant(word: str) -> NoReturn:
    raise Fault(f"{word} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Fault("has a number that is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
