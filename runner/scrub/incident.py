"""Secrets in an ``incident.json`` (LOKI's keys and ours), without breaking what a replay needs.

What a persona typed is ours, from a list of our own, so a ``fill`` step keeps its value even in a password field. A
session without a persona was played by a person: there a value that went into such a field is removed. A step, an API
fault or a state fault that lost something says so by ``"scrubbed": true``: a replay of it cannot be exact.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from runner.browser.trace import STEPS
from runner.scrub.rules import DROPPED
from runner.scrub.words import Words

_OURS = frozenset({
    "run_id", "timestamp", "persona", "browser", "seed", "device", "orientation", "duration_seconds", "concurrency",
    "video_file", "har_file", "unique_crashes_count", "console_errors_count", "total_failures_count",
    "actions_executed_count"})
"""Top-level fields whose text comes from lists of our own, or is a name or a time that we made."""
_OURS_IN_PARTS = frozenset({
    "kind", "fault_type", "method", "storage_area", "status", "content_type", "original_status", "injected_status",
    "force", "repeat", "delay_ms", "latency_ms", "offset_ms", "occurrence", "from_step", "step", "cleared_count"})
_PARTS = ("replay_trace", "api_faults", "state_faults")
_WORDS = ((
    "pageerror unhandled_rejection console_error http_error failed_request navigation_error resource_failure dialog "
    "ui_freeze layout localStorage sessionStorage lifecycle reproduced network.har incident.json replay.webm"),
    " ".join(STEPS))


def texts_to_keep(incident: Any) -> tuple[str, ...]:
    """What a scrubber is to keep for this incident: the application's address, what was typed, our own words."""
    if not isinstance(incident, dict):
        return _WORDS
    typed = (step.get("value") for step in _list(incident.get("replay_trace")) if _is_ours(step, incident))
    return (*_WORDS, *_origin(incident.get("target_url")), *(value for value in typed if isinstance(value, str)))


def scrub_incident(incident: Any, words: Words) -> Any:
    """The incident as a new value, keys in their order."""
    if not isinstance(incident, dict):
        return words.document(incident)
    result: dict[str, Any] = {}
    for name, value in incident.items():
        if name in _OURS:
            result[name] = value
        elif name in _PARTS and isinstance(value, list):
            result[name] = [_part(item, incident, words) for item in value]
        else:
            result |= words.document({name: value})
    return result


def _part(item: Any, incident: dict[str, Any], words: Words) -> Any:
    """One step or fault, marked if it lost something."""
    if not isinstance(item, dict):
        return words.document(item)
    ours = {name for name in item if name in _OURS_IN_PARTS or (name == "value" and _is_ours(item, incident))}
    clean = words.document({name: value for name, value in item.items() if name not in ours})
    if isinstance(item.get("body"), str) and "content_type" in item:
        clean["body"] = _fault_body(item["body"], str(item["content_type"]), words)
    merged = {name: item[name] if name in ours else clean.get(name) for name in item}
    return merged if merged == item else {**merged, "scrubbed": True}


def _fault_body(body: str, kind: str, words: Words) -> str:
    """A body in base64, byte for byte what the browser got."""
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return base64.b64encode(DROPPED.encode()).decode()
    clean = words.data(raw, kind)
    return body if clean == raw else base64.b64encode(clean).decode()


def _is_ours(step: Any, incident: dict[str, Any]) -> bool:
    return isinstance(step, dict) and step.get("kind") == "fill" and bool(incident.get("persona"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _origin(url: Any) -> Iterator[str]:
    """Scheme, host and port of an address, without whoever logs in there."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:
        return
    if parts is not None:
        yield f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
