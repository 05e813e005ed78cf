"""An incident and its session as ``incident.json``: LOKI's 31 keys, and ours. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from runner.browser.faults import ApiFault, StateFault
from runner.browser.outcome import Lane, Outcome, Signal, SignalKind
from runner.incidents.model import Incident
from runner.incidents.own import KEY, own_part
from runner.incidents.steps import write_step

_MAX_JSON_BODY = 64 << 10


def incident_document(incident: Incident, outcome: Outcome) -> dict[str, Any]:
    """The document. Its lists are worded and counted as LOKI's, noise and all; the failures are in ``runner``."""
    lists = _lists(outcome.signals)
    return {
        "run_id": incident.run_id, "timestamp": incident.timestamp, "target_url": incident.target_url,
        "persona": incident.persona, "browser": incident.browser, "seed": incident.seed,
        "device": outcome.browser.device or incident.device,
        "orientation": "landscape" if incident.landscape else "portrait",
        "duration_seconds": incident.duration_seconds, "unique_crashes_count": len(lists["crashes"]),
        "crashes": lists["crashes"], "console_errors_count": len(lists["console_errors"]),
        **{key: texts for key, texts in lists.items() if key != "crashes"}, "total_failures_count": _total(lists),
        "actions_executed_count": len(incident.actions), "actions_taken": list(incident.actions),
        "replay_trace": [write_step(step) for step in incident.trace],
        "api_faults": [_api_fault(fault, outcome) for fault in incident.api_faults],
        "state_faults": [_state_fault(fault, outcome) for fault in incident.state_faults],
        "concurrency": incident.race.lanes if incident.race is not None else 1,
        "concurrency_lanes": [_lane(lane) for lane in incident.lanes], "rules_evaluations": [],
        "video_file": _file(outcome, "replay.webm"), "har_file": _file(outcome, "network.har"),
        KEY: own_part(incident)}


def write_incident(incident: Incident, outcome: Outcome) -> bytes:
    """The document as LOKI writes it: indented by 2, in ASCII."""
    return json.dumps(incident_document(incident, outcome), indent=2, ensure_ascii=True, allow_nan=False).encode()


def _lists(signals: Iterable[Signal]) -> dict[str, list[str]]:
    found = tuple(signals)

    def texts(word: Callable[[Signal], str], *kinds: SignalKind) -> list[str]:
        return [_laned(signal, word(signal)) for signal in found if signal.kind in kinds]

    def message(signal: Signal) -> str:
        return signal.message

    return {
        "crashes": _distinct(texts(message, "pageerror", "unhandled_rejection")),
        "console_errors": texts(message, "console_error"),
        "http_errors": texts(_http, "http_error"),
        "failed_requests": _distinct(texts(_failed, "failed_request")),
        "unhandled_rejections": _distinct(texts(_rejection, "unhandled_rejection")),
        "navigation_errors": _distinct(texts(message, "navigation_error")),
        "resource_failures": _distinct(texts(message, "resource_failure")),
        "unexpected_dialogs": _distinct(texts(message, "dialog")),
        "layout_issues": _distinct([*texts(message, "layout"), *texts(_freeze, "ui_freeze")])}


def _total(lists: dict[str, list[str]]) -> int:
    """Distinct crashes and console errors, and all of the other lists but the layout's."""
    others = ("http_errors", "failed_requests", "unhandled_rejections", "navigation_errors", "resource_failures",
              "unexpected_dialogs")
    return len(lists["crashes"]) + len(set(lists["console_errors"])) + sum(len(lists[name]) for name in others)


def _laned(signal: Signal, text: str) -> str:
    return text if signal.lane is None else f"[lane {signal.lane}] {text}"


def _http(signal: Signal) -> str:
    return signal.message if signal.message.startswith("HTTP ") else f"HTTP {signal.status} on {signal.url}"


def _failed(signal: Signal) -> str:
    return f"[{signal.method}] {signal.url} ({signal.resource}) - {signal.message}"


def _rejection(signal: Signal) -> str:
    return f"Unhandled Promise Rejection: {signal.stack or signal.message}"


def _freeze(signal: Signal) -> str:
    return f"[UI Freeze / Blank Screen] {signal.message}"


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _api_fault(fault: ApiFault, outcome: Outcome) -> dict[str, Any]:
    event: dict[str, Any] = {
        "url": fault.url, "method": fault.method, "fault_type": fault.fault_type,
        "original_status": fault.original_status, "injected_status": fault.status,
        "details": {"delay_ms": fault.delay_ms} if fault.delay_ms else {"action": fault.details},
        "timestamp": _moment(outcome, fault.step)}
    if fault.status is not None:
        event["status"] = fault.status
    if fault.body is not None:
        event["body"] = _body(fault.body)
    return event


def _body(encoded: str) -> Any:
    """As LOKI has it, a JSON value; what is no JSON, or long, is text. The bytes are in ``runner``."""
    raw = base64.b64decode(encoded)
    text = raw.decode("utf-8", "replace")
    if len(raw) > _MAX_JSON_BODY:
        return text[:_MAX_JSON_BODY]
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value


def _state_fault(fault: StateFault, outcome: Outcome) -> dict[str, Any]:
    meta = {"offset_ms": fault.offset_ms, "offset_seconds": fault.offset_ms // 1000} if fault.offset_ms else {}
    stored = fault.storage_area in ("localStorage", "sessionStorage")
    return {"storage_area": fault.storage_area, "key": fault.key,
            "target": f"{fault.storage_area}.{fault.key}" if stored else fault.key, "fault_type": fault.fault_type,
            "original_value": fault.original_value, "injected_value": fault.injected_value, "details": fault.details,
            "details_meta": meta, "timestamp": _moment(outcome, -1)}


def _moment(outcome: Outcome, step: int) -> float | None:
    """Seconds since the epoch when a step began; before the first, when the session did."""
    try:
        began = datetime.fromisoformat(outcome.started).timestamp()
    except (ValueError, OverflowError):
        return None
    return began + (outcome.steps[step].started_ms / 1000 if 0 <= step < len(outcome.steps) else 0.0)


def _lane(lane: Lane) -> dict[str, Any]:
    return {"lane": lane.lane, "selector": lane.selector, "crashes": list(lane.crashes),
            "responses": [{"url": each.url, "status": each.status, "method": each.method} for each in lane.responses],
            "final_text": lane.final_text}


def _file(outcome: Outcome, name: str) -> str | None:
    return name if name in outcome.files else None
