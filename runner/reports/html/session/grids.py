"""The plain tables of a session: noise, faults, lanes."""

from __future__ import annotations

from runner.browser.faults import ApiFault, StateFault
from runner.evidence.session_record import LaneRecord, SessionRun
from runner.incidents.model import Incident
from runner.incidents.noise import RULES
from runner.reports.html.session.view import Grid
from runner.reports.html.words import size

_MOST = 200
_LONGEST = 200


def noise_of(run: SessionRun) -> Grid:
    """What is no failure of the application, by rule."""
    reasons = {rule.name: rule.why for rule in RULES}
    rows = tuple((noise.rule, reasons.get(noise.rule, ""), f"{noise.count:,}", noise.first) for noise in run.noise)
    return Grid("Signals that are no failure of the application", ("Rule", "Why", "Signals", "The first"), rows[:_MOST],
                max(0, len(rows) - _MOST))


def lanes_of(run: SessionRun) -> Grid:
    """A race, lane by lane."""
    rows = tuple(map(_lane, run.lanes[:_MOST]))
    return Grid("Each lane clicked once, all at the same moment",
                ("Lane", "Clicked on", "Click", "Answers", "Crashes", "Text at the end"), rows,
                max(0, len(run.lanes) - _MOST))


def _lane(lane: LaneRecord) -> tuple[str, ...]:
    clicked = "never" if lane.clicked_ms is None else f"+{lane.clicked_ms:.1f} ms"
    return (str(lane.lane), lane.selector or "", clicked, "; ".join(lane.responses), "; ".join(lane.crashes),
            lane.final_text or "")


def api_faults_of(incident: Incident | None) -> Grid:
    """Which request got what."""
    faults = incident.api_faults if incident else ()
    return Grid("Faults in the application's answers",
                ("Step", "Fault", "Request", "Which", "Answered", "Body", "Delay"),
                tuple(map(_api_fault, faults[:_MOST])), max(0, len(faults) - _MOST))


def _api_fault(fault: ApiFault) -> tuple[str, ...]:
    body = "the application's own" if fault.body is None else size(len(fault.body) * 3 // 4)
    status = "the application's own" if fault.status is None else str(fault.status)
    which = f"no. {fault.occurrence}" if fault.occurrence else "the next"
    return (_step(fault.step), fault.fault_type, f"{fault.method} {fault.url}"[:_LONGEST], which, status, body,
            f"{fault.delay_ms:,} ms" if fault.delay_ms else "")


def state_faults_of(incident: Incident | None) -> Grid:
    """What was done to the page's state."""
    faults = incident.state_faults if incident else ()
    return Grid("Faults in the page's state", ("Fault", "Where", "Key", "Value put in", "Details"),
                tuple(map(_state_fault, faults[:_MOST])), max(0, len(faults) - _MOST))


def _state_fault(fault: StateFault) -> tuple[str, ...]:
    value = fault.injected_value if fault.injected_value is not None else \
        f"{fault.offset_ms:+,} ms" if fault.offset_ms else ""
    return (fault.fault_type, fault.storage_area, fault.key[:_LONGEST], value[:_LONGEST], fault.details[:_LONGEST])


def _step(index: int) -> str:
    return "before the first" if index < 0 else str(index)
