"""Sessions to shrink, players that know the answers, and what is one less of a candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Race
from runner.browser.trace import ApiFaultStep, Click, Fill, Press, StateFaultStep
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.journal import Journal
from runner.controller.shrinking.parts import keep, parts_of
from runner.controller.shrinking.shrink import Keep, Kept, Shrunk, shrink_each
from runner.controller.shrinking.trials import Trials
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident

FAULT = Failure(Identity("pageerror", "Cannot read properties of undefined (reading 'items')"))
FAILURE = FAULT.identity.id
URL = "http://127.0.0.1:8801/api/report"
TERMS = {"incident": "ab" * 32, "payload": "cd" * 32, "images": ["sha256:1", "sha256:2"], "policies": []}

STEPS = st.one_of(
    st.builds(Click, st.sampled_from(["#a", "#b"]), repeat=st.integers(1, 6)),
    st.builds(Fill, st.just("#a"), st.text("xy", max_size=9)),
    st.builds(Press, st.sampled_from(["Enter", "Tab"])),
    st.just(ApiFaultStep("delay", URL)),
    st.builds(StateFaultStep, st.just("clock_drift")))


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """Sessions with faults that steps stand for, and some that none does."""
    trace = draw(st.lists(STEPS, max_size=9))
    drifts = sum(isinstance(step, StateFaultStep) for step in trace)
    state = tuple(StateFault("clock_drift", "clock", offset_ms=at) for at in range(drifts))
    api = draw(st.lists(st.builds(ApiFault, st.just("delay"), st.just("GET"), st.just(URL), st.integers(0, 3),
                                  step=st.integers(-1, max(len(trace) - 1, -1))), max_size=3))
    return Candidate(tuple(trace), tuple(api), state, draw(st.sampled_from([0, 0, 2, 5])))


class Knowing:
    """A player without a browser: ``shows`` decides. ``last`` is after how many plays it is interrupted."""

    def __init__(self, shows: Callable[[Candidate], bool | None], last: int | None = None) -> None:
        self.played: list[str] = []
        self.cancelled = False
        self._shows = shows
        self._last = last

    def play(self, candidate: Candidate) -> frozenset[str] | None:
        if self._last is not None and len(self.played) >= self._last:
            raise KeyboardInterrupt
        self.played.append(candidate.digest())
        shown = self._shows(candidate)
        return None if shown is None else frozenset({FAILURE} if shown else ())

    def cancel(self) -> None:
        self.cancelled = True


def incident_with(candidate: Candidate, *failures: Failure) -> Incident:
    """An incident that records this session."""
    return Incident("runner", "http://127.0.0.1:8801/", trace=candidate.trace, api_faults=candidate.api_faults,
                    state_faults=candidate.state_faults, race=Race(candidate.lanes) if candidate.lanes else None,
                    failures=failures)


def shrunk(journal: Journal, player: Knowing, whole: Candidate, *, jobs: int = 1, runs: int = 1) -> Shrunk:
    """What becomes of the one failure."""
    with Trials(player, journal, jobs=jobs, runs=runs) as trials:
        [done] = shrink_each(incident_with(whole, FAULT), [FAULT], trials, keeping(player, runs))
    return done


def keeping(player: Knowing, runs: int = 1) -> Keep:
    """Plays a candidate again until it shows the failure."""
    def keep(failure: Failure, candidate: Candidate) -> Kept:
        return Kept(Path("kept"), any(failure.identity.id in (player.play(candidate) or ()) for _ in range(runs)))
    return keep


def one_less(candidate: Candidate) -> Iterator[Candidate]:
    """Every candidate with one part, click, character or lane less."""
    parts = parts_of(candidate)
    for at in range(len(parts)):
        yield keep(candidate, parts[:at] + parts[at + 1:])
    for at, step in enumerate(candidate.trace):
        smaller = None
        if isinstance(step, Click) and step.repeat > 1:
            smaller = replace(step, repeat=step.repeat - 1)
        elif isinstance(step, Fill) and step.value:
            smaller = replace(step, value=step.value[:-1])
        if smaller is not None:
            yield replace(candidate, trace=(*candidate.trace[:at], smaller, *candidate.trace[at + 1:]))
    if candidate.lanes > 2:
        yield replace(candidate, lanes=candidate.lanes - 1)
