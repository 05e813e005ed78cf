"""API faults of LOKI: which request got what.

LOKI writes down what its own replay would answer, which is not always what was answered. Taken are: made-up statuses
with their bodies, empty answers, delays. A request whose credentials were taken away or replaced was answered by the
application; what it answered is not kept, so its replay asks the application again, with worthless credentials. Of a
mutated answer the body is kept in the HAR, if at all.
"""

from __future__ import annotations

import ast
import base64
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from runner.browser.faults import ApiFault
from runner.browser.trace import ApiFaultStep, CookieEviction, StateFaultStep, Step
from runner.incidents.loki.har import Exchange, same_url
from runner.incidents.loki.shape import ApiEvent

_MARKS = {"status_code": "status_code_", "corrupt_json": "corrupt_json", "schema_strip": "stripped_keys_",
          "delay": "delayed_", "empty_response": "empty_response", "401_unauthorized": "auth_401",
          "403_forbidden": "auth_403", "token_invalidation": "token_stripped", "token_corruption": "token_corrupted"}
"""How the values of LOKI's headers begin."""
_MUTATED = frozenset({"corrupt_json", "schema_strip"})
_OWN_ANSWER = frozenset({"delay", "token_invalidation", "token_corruption", "cookie_eviction"})
_MAX_DELAY_MS = 600_000
_MAX_LITERAL = 64 << 10


def faults_of(events: Sequence[ApiEvent], trace: Sequence[Step],
              exchanges: Sequence[Exchange]) -> tuple[tuple[ApiFault, ...], tuple[str, ...]]:
    """The faults in the order of their time, and notes on what is lost. ``trace`` has all its state faults."""
    ordered = sorted(events, key=lambda event: event.timestamp or 0.0) if all(
        event.timestamp is not None for event in events) else list(events)
    marks = _marks(ordered, trace)
    seen: Counter[tuple[str, str, str]] = Counter()
    faults, notes, since = [], [], -1
    for event, mark in zip(ordered, marks, strict=True):
        key = (event.fault_type, event.method, event.url)
        occurrence, exchange = _found(event, exchanges, seen[key])
        seen[key] += 1
        since = max(since, mark) if mark is not None else since
        step = _action_before(trace, mark) if mark is not None else -1
        from_step = step if mark is not None and event.fault_type != "cookie_eviction" else since
        fault, lost = _fault(event, exchange, occurrence, from_step, step)
        faults.append(fault)
        notes += [f"{event.method} {event.url}: {lost}"] if lost else []
    return tuple(faults), tuple(notes)


def _marks(events: Sequence[ApiEvent], trace: Sequence[Step]) -> list[int | None]:
    """The step that marks each event, if one does. The k-th event of a kind and URL belongs to its k-th mark."""
    places: dict[tuple[str, str], list[int]] = {}
    for index, step in enumerate(trace):
        if isinstance(step, ApiFaultStep):
            places.setdefault((step.fault_type, step.url), []).append(index)
        elif isinstance(step, CookieEviction):
            places.setdefault(("cookie_eviction", ""), []).append(index)
    found: list[int | None] = []
    for event in events:
        url = "" if event.fault_type == "cookie_eviction" else event.url
        left = places.get((event.fault_type, url), [])
        found.append(left.pop(0) if left else None)
    return found


def _action_before(trace: Sequence[Step], mark: int) -> int:
    """LOKI marks a fault after the step that caused the request."""
    before = (index for index in range(mark - 1, -1, -1)
              if not isinstance(trace[index], ApiFaultStep | CookieEviction | StateFaultStep))
    return next(before, -1)


def _found(event: ApiEvent, exchanges: Sequence[Exchange], skip: int) -> tuple[int, Exchange | None]:
    """The event's request in the HAR, and the how-manieth of its method and URL that is; 0 if it cannot be told."""
    count = 0
    for exchange in exchanges:
        if exchange.method != event.method or not (same_url(exchange.url, event.url)
                                                   or same_url(event.url, exchange.url)):
            continue
        count += 1
        if exchange.fault.startswith(_MARKS.get(event.fault_type, "\0")):
            if skip == 0:
                return count, exchange
            skip -= 1
    return 0, None


def _fault(event: ApiEvent, exchange: Exchange | None, occurrence: int, from_step: int,
           step: int) -> tuple[ApiFault, str]:
    details = event.details if isinstance(event.details, dict) else {}
    status: int | None = None
    body: bytes | None = None
    lost = ""
    if event.fault_type in _MUTATED:
        status = event.status or event.injected_status or event.original_status
        body = exchange.body if exchange is not None else None
        lost = "" if body is not None else f"LOKI did not keep the body that {event.fault_type} left"
    elif event.fault_type in ("token_invalidation", "token_corruption"):
        lost = "LOKI did not keep what the application answered without good credentials; it is asked again"
    elif event.fault_type not in _OWN_ANSWER:
        status = event.injected_status or event.status or 200
        body = _bytes(event.body if event.body is not None else details.get("error_payload", {}))
    return ApiFault(event.fault_type, event.method, event.url, occurrence, from_step, status,
                    body=base64.b64encode(body).decode() if body is not None else None,
                    delay_ms=_delay(details) if event.fault_type == "delay" else 0, step=step,
                    original_status=event.original_status, details=_told(details)), lost


def _bytes(body: object) -> bytes:
    """What was answered: LOKI sends its objects as JSON. A text that is a Python object's is that object."""
    if isinstance(body, str):
        value = _literal(body)
        return json.dumps(value).encode() if isinstance(value, dict | list) else body.encode("utf-8", "replace")
    return json.dumps(body).encode()


def _literal(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")) or len(text) > _MAX_LITERAL:
        return None
    try:
        value = ast.literal_eval(text.strip())
        return json.loads(json.dumps(value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _delay(details: dict[str, Any]) -> int:
    value = details.get("delay_ms")
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_DELAY_MS
    return int(value) if usable and value is not None else 0


def _told(details: dict[str, Any]) -> str:
    """In words. Dropped keys are told as our own recordings do."""
    dropped = details.get("dropped_keys")
    if isinstance(dropped, list) and dropped:
        return "dropped " + ", ".join(json.dumps(str(name)[:100]) for name in dropped[:64])
    action = details.get("action")
    return action[:500] if isinstance(action, str) else ""
