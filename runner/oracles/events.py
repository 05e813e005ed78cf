"""The oracle of browser sessions: one recorded incident, one session played again, one judgement. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runner.browser.outcome import Outcome, StepRecord
from runner.browser.trace import Click, Fill, Press, is_burst
from runner.errors import printable
from runner.incidents.failures import sort_signals
from runner.incidents.identity import Identity, fits, is_grave, race_identity
from runner.incidents.model import Failure, Incident, NoiseCount
from runner.incidents.noise import session_of
from runner.incidents.races import Tally, lane_signals, raced, tally

SessionKind = Literal["judged", "diverged", "crashed", "precondition", "not_run"]
"""``judged``: played to its end. ``diverged``: a step could not be taken. ``crashed``: the browser ended in the middle.
``precondition``: the state that the recording began with was not there. ``not_run``: nothing was played."""

_NOT_RUN = frozenset({"not_ready", "unreachable", "not_launched", "refused"})


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a session left the recorded way. ``step`` is ``None`` in a race, ``lane`` outside of one."""

    step: int | None
    selector: str
    detail: str = ""
    screenshot: str = ""
    lane: int | None = None

    def __str__(self) -> str:
        where = f"lane {self.lane}" if self.step is None else f"step {self.step}"
        said = f": {self.detail[:300]}" if self.detail else ""
        return printable(f"{where}, {self.selector[:300] or 'no selector'}{said}")


@dataclass(frozen=True, slots=True)
class SessionJudgement:
    """What the oracle says of one session.

    ``found`` are the recorded identities that were seen, ``missing`` those that were not, both in the order of the
    recording; ``seen`` has, for each of ``found``, the failure that fitted. ``new`` are failures that fit nothing
    recorded. ``race`` is what the lanes got. In a session that was not run all of them are empty, ``missing`` too.
    """

    kind: SessionKind
    found: tuple[Identity, ...] = ()
    missing: tuple[Identity, ...] = ()
    seen: tuple[Failure, ...] = ()
    new: tuple[Failure, ...] = ()
    noise: tuple[NoiseCount, ...] = ()
    divergence: Divergence | None = None
    race: tuple[Tally, ...] = ()
    detail: str = ""

    @property
    def conclusive(self) -> bool:
        """Whether this session can say that what it did not show is not there, or showed all that decides."""
        if self.kind in ("judged", "not_run"):
            return self.kind == "judged"
        return not any(identity in self.missing for identity in deciding((*self.found, *self.missing)))

    @property
    def accepted(self) -> bool:
        """Whether this session by itself reproduces: it is conclusive, and showed a recorded failure that decides."""
        grave = deciding((*self.found, *self.missing))
        return self.conclusive and any(identity in grave for identity in self.found)


def deciding(recorded: Sequence[Identity]) -> tuple[Identity, ...]:
    """Those of the recorded failures that a verdict rests on: the grave ones, or all, where there is none."""
    return tuple(identity for identity in recorded if is_grave(identity)) or tuple(recorded)


def judge_session(incident: Incident, outcome: Outcome) -> SessionJudgement:
    """Which of the recorded failures a session showed, and what else it did."""
    if outcome.state in _NOT_RUN:
        return SessionJudgement("not_run", detail=f"{outcome.state.replace('_', ' ')}: {outcome.detail}")
    result = sort_signals((*outcome.signals, *lane_signals(outcome)), session_of(outcome))
    lanes = tally(outcome.lanes)
    failures = (*_races(incident, lanes), *result.failures)
    recorded = tuple(failure.identity for failure in incident.failures)
    pairs = [(identity, _fitting(identity, (*failures, *result.echoes))) for identity in recorded]
    missing = tuple(identity for identity, seen in pairs if seen is None)
    new = tuple(failure for failure in failures if not any(fits(identity, failure.identity) for identity in recorded))
    kind, divergence, detail = _course(incident, outcome, lanes, missing, new)
    return SessionJudgement(
        kind, tuple(identity for identity, seen in pairs if seen is not None), missing,
        tuple(seen for _, seen in pairs if seen is not None), new, result.noise, divergence, lanes, detail)


def _fitting(identity: Identity, failures: Sequence[Failure]) -> Failure | None:
    return next((failure for failure in failures if fits(identity, failure.identity)), None)


def _races(incident: Incident, lanes: Sequence[Tally]) -> list[Failure]:
    """The recorded race, if every request that raced then raced again: a request that every lane may make, such as one
    for a session, always does. A race for what was rightly refused in the recording is a new failure.
    """
    before = {(each.method, each.url): each for each in tally(incident.lanes)}
    now = {(each.method, each.url): each for each in lanes if each.succeeded >= 2}
    recorded = raced(incident.lanes)
    again = [now[key] for each in recorded if (key := (each.method, each.url)) in now]
    found = [again[-1]] if recorded and len(again) == len(recorded) else []
    found += [each for key, each in now.items() if key in before and before[key].succeeded < 2]
    return [Failure(race_identity(each.method, each.url), count=each.succeeded) for each in found]


def _course(incident: Incident, outcome: Outcome, lanes: Sequence[Tally], missing: Sequence[Identity],
            new: Sequence[Failure]) -> tuple[SessionKind, Divergence | None, str]:
    divergence = _divergence(incident, outcome)
    if divergence is not None or outcome.state == "diverged":
        return "diverged", divergence, str(divergence) if divergence is not None else outcome.detail
    if outcome.state == "crashed":
        return "crashed", None, outcome.detail
    unmet = _unmet(incident, lanes)
    if unmet and not new and any(identity.kind == "race" for identity in missing):
        return "precondition", None, unmet
    return "judged", None, outcome.detail


def _divergence(incident: Incident, outcome: Outcome) -> Divergence | None:
    for lane in outcome.lanes:
        if lane.missing:
            selector = lane.selector or (incident.race.selector if incident.race is not None else None)
            return Divergence(None, selector or "", "no such element", lane=lane.lane)
    for record in outcome.steps:
        if record.state == "missing" or _worked_before(incident, record):
            step = incident.trace[record.index] if record.index < len(incident.trace) else None
            selector = step.selector if isinstance(step, Click | Fill | Press) else None
            return Divergence(record.index, selector or "", record.detail, record.screenshot)
    return None


def _worked_before(incident: Incident, record: StepRecord) -> bool:
    """Whether a step that had no effect had one when it was recorded. LOKI keeps such steps alone, but for bursts."""
    if record.state != "failed" or record.index >= len(incident.trace):
        return False
    step, steps = incident.trace[record.index], incident.own.steps if incident.own is not None else ()
    if not isinstance(step, Click | Fill | Press):
        return False
    if incident.source == "loki":
        return not is_burst(step)
    return record.index < len(steps) and steps[record.index].state == "done"


def _unmet(incident: Incident, lanes: Sequence[Tally]) -> str:
    """Why a race could not even begin: what succeeded in the recording was refused to every lane, or never asked."""
    now = {(each.method, each.url): each for each in lanes}
    for each in raced(incident.lanes):
        found = now.get((each.method, each.url))
        if found is None:
            return f"precondition not met: no lane sent {each.method} {each.url}"
        if found.succeeded == 0 and found.failed == 0:
            return (f"precondition not met: {each.method} {each.url} was refused to all {found.refused} lanes; the"
                    f" recording began in a state in which {each.succeeded} succeeded")
    return ""
