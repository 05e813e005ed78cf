"""The failure lists of LOKI's ``incident.json`` as the signals that they were made from.

LOKI keeps one text for each. The step and the time of a failure are lost, a response's method is found in the HAR.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner.browser.faults import ApiFault
from runner.browser.outcome import Signal, SignalKind
from runner.incidents.loki.har import Exchange
from runner.incidents.loki.shape import LokiFile
from runner.incidents.normalise import normal_url
from runner.incidents.races import CONSOLE

LANE_MARK = re.compile(r"\[lane (\d{1,5})\] ")
HTTP_LINE = re.compile(r"HTTP (\d{3})(?: \(.{0,200}?\))? on (\S+)")
_FAILED = re.compile(r"\[(\S{1,40})\] (\S+) \((\w{1,40})\) - (.*)", re.DOTALL)
_RESOURCE = re.compile(r"Failed to load <(\w{1,40})> resource: (.*)", re.DOTALL)
_IMAGE = re.compile(r"Broken image in DOM \(0px natural width\): (.*)", re.DOTALL)
_FIRST = re.compile(r"Initial navigation returned HTTP (\d{3})")
_PLACE = re.compile(r"(?:\((\S+)\)|: (\S+))$")
_BARE_CLASS = re.compile(r"[A-Z]\w{0,60}(?:\(\d{1,9}\))?")
_FREEZE = "[UI Freeze / Blank Screen] "
_REJECTION = "Unhandled Promise Rejection: "
_OWN_TROUBLE = ("Navigation error: ", "Synchronized click failed: ", "Lane did not reach the synchronized click",
                "No clickable target element found", "Lane fatal error: ")
"""Crashes that are LOKI's own: of the browser or the target, not of the application."""


def signals_of(file: LokiFile, faults: Sequence[ApiFault], exchanges: Sequence[Exchange]) -> tuple[Signal, ...]:
    """All signals, those of faults that LOKI put in marked as injected."""
    last = len(file.replay_trace) - 1
    found = [*_errors(file), *_injected(_answers(file, exchanges), faults), *_requests(file), *_pages(file)]
    return tuple(replace(signal, step=last, page=file.target_url) for signal in found)


def own_trouble(file: LokiFile) -> Iterator[str]:
    """Crashes that say that LOKI itself could not go on."""
    for text in file.crashes:
        words = LANE_MARK.sub("", text, count=1)
        if words.startswith(_OWN_TROUBLE):
            yield words.split("\n", 1)[0]


def _signal(kind: SignalKind, text: str, **fields: str | int | None) -> Signal:
    lane = LANE_MARK.match(text)
    return replace(Signal(kind, -1, 0.0, text[lane.end():] if lane else text,
                          lane=int(lane[1]) if lane else None), **fields)  # type: ignore[arg-type]


def _errors(file: LokiFile) -> Iterator[Signal]:
    """Rejections come first, because they have a stack and the crash of the same error has none."""
    for text in file.unhandled_rejections:
        stack = text.removeprefix(_REJECTION)
        yield _signal("unhandled_rejection", re.split(r"\n\s+at |\n\S*@http", stack, maxsplit=1)[0], stack=stack)
    objects = any(text.removeprefix(_REJECTION).startswith(("{", "[")) for text in file.unhandled_rejections)
    for text in file.crashes:
        signal = _signal("pageerror", text)
        if objects and _BARE_CLASS.fullmatch(signal.message):
            # The browser's word for a rejection whose reason, an object and no error, stands among the rejections.
            yield replace(signal, own="console_echo")
        elif signal.message.startswith(CONSOLE):
            yield replace(signal, kind="console_error", message=signal.message.removeprefix(CONSOLE))
        elif not signal.message.startswith(_OWN_TROUBLE):
            yield signal
    for text in file.console_errors:
        yield _signal("console_error", text)


def _answers(file: LokiFile, exchanges: Sequence[Exchange]) -> Iterator[Signal]:
    methods: dict[tuple[int, str], list[str]] = {}
    for exchange in exchanges:
        methods.setdefault((exchange.status, normal_url(exchange.url)), []).append(exchange.method)
    for lane in file.concurrency_lanes:
        for response in lane.responses:
            methods.setdefault((response.status, normal_url(response.url)), []).append(response.method)
    seen: Counter[tuple[int, str]] = Counter()
    for text in file.http_errors:
        signal = _signal("http_error", text)
        found = HTTP_LINE.match(signal.message)
        if found is None:
            continue
        key = (int(found[1]), normal_url(found[2]))
        known = methods.get(key, [])
        # The k-th such response is the k-th in the HAR; with one method for all, order does not matter.
        method = known[seen[key]] if seen[key] < len(known) else known[0] if len(set(known)) == 1 else ""
        seen[key] += 1
        yield replace(signal, status=key[0], url=found[2], method=method)


def _injected(signals: Iterator[Signal], faults: Sequence[ApiFault]) -> Iterator[Signal]:
    """Of equal responses as many are faults as were put in; a mutated error of the application's stays its own."""
    made_up: Counter[tuple[int | None, str]] = Counter(
        (fault.status, normal_url(fault.url)) for fault in faults
        if fault.status is not None and fault.status != fault.original_status)
    for signal in signals:
        key = (signal.status, normal_url(signal.url))
        if made_up[key] > 0:
            made_up[key] -= 1
            yield replace(signal, own="injected")
        else:
            yield signal


def _requests(file: LokiFile) -> Iterator[Signal]:
    for text in file.failed_requests:
        if found := _FAILED.match(text):
            yield _signal("failed_request", found[4], method=found[1], url=found[2], resource=found[3])
    for text in file.resource_failures:
        if found := _RESOURCE.match(text):
            yield _signal("resource_failure", text, resource=found[1], url=found[2])
        elif found := _IMAGE.match(text):
            yield _signal("resource_failure", text, resource="img", url=found[1])


def _pages(file: LokiFile) -> Iterator[Signal]:
    for text in file.navigation_errors:
        place, first = _PLACE.search(text[-20_000:]), _FIRST.match(text)
        yield _signal("navigation_error", text, url=(place[1] or place[2]) if place else "",
                      status=int(first[1]) if first else None)
    for text in file.unexpected_dialogs:
        yield _signal("dialog", text)
    for text in file.layout_issues:
        if text.startswith(_FREEZE):
            yield _signal("ui_freeze", text.removeprefix(_FREEZE))
        else:
            yield _signal("layout", text)
