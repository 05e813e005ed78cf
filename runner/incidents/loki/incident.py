"""A LOKI incident as ours: every key read, every loss noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.browser.job import Race
from runner.browser.outcome import Lane, Response
from runner.errors import ReportError
from runner.incidents.failures import sort_signals
from runner.incidents.loki.faults import faults_of
from runner.incidents.loki.har import Exchange
from runner.incidents.loki.shape import LaneRecord, LokiFile
from runner.incidents.loki.signals import HTTP_LINE, LANE_MARK, own_trouble, signals_of
from runner.incidents.loki.state import placed
from runner.incidents.model import Failure, Incident
from runner.incidents.noise import Session
from runner.incidents.races import race_failure
from runner.incidents.steps import read_step
from runner.incidents.strict import read_as
from runner.incidents.urls import check_url

_LANDSCAPE = " landscape"


def from_loki(data: Mapping[str, object], exchanges: Sequence[Exchange] = ()) -> Incident:
    """The incident in a parsed ``incident.json``; ``exchanges`` are those of the HAR beside it. Raises ReportError,
    which names the key, for a wrong type or a value that cannot be replayed.
    """
    file = _with_lanes(read_as(LokiFile, dict(data)))
    check_url(file.target_url)
    recorded = tuple(read_step(step, f"replay_trace[{index}]") for index, step in enumerate(file.replay_trace))
    trace, state_faults, state_notes = placed(recorded, file.state_faults)
    api_faults, api_notes = faults_of(file.api_faults, trace, exchanges)
    signals = signals_of(file, api_faults, exchanges)
    race = _race(file)
    lanes = tuple(map(_lane, file.concurrency_lanes))
    session = Session(trace, api_faults, state_faults, signals, timed=False, raced=race is not None)
    failures = [_untimed(failure) for failure in sort_signals(signals, session).failures]
    found = race_failure(lanes) if race is not None else None
    landscape = file.orientation == "landscape"
    device = file.device.removesuffix(_LANDSCAPE) if file.device and landscape else file.device
    return Incident(
        source="loki", target_url=file.target_url, run_id=file.run_id, timestamp=file.timestamp, persona=file.persona,
        browser=file.browser, seed=file.seed, device=device or None, landscape=landscape,
        duration_seconds=file.duration_seconds, trace=trace, api_faults=api_faults, state_faults=state_faults,
        race=race, lanes=lanes, failures=((found,) if found else ()) + tuple(failures), actions=file.actions_taken,
        notes=(*state_notes, *api_notes, *_notes(file)))


def _with_lanes(file: LokiFile) -> LokiFile:
    """LOKI repeats what the lanes met in the lists for all; where a list does not have it, the lane's word counts."""
    known = {found.groups() for text in file.http_errors if (found := HTTP_LINE.search(text))}
    told = {LANE_MARK.sub("", text, count=1) for text in file.crashes}
    crashes, errors = list(file.crashes), list(file.http_errors)
    for lane in file.concurrency_lanes:
        crashes += [f"[lane {lane.lane}] {text}" for text in lane.crashes if text not in told]
        errors += [f"[lane {lane.lane}] HTTP {each.status} on {each.url}" for each in lane.responses
                   if each.status >= 400 and (str(each.status), each.url) not in known]
    return file.model_copy(update={"crashes": tuple(crashes), "http_errors": tuple(errors)})


def _race(file: LokiFile) -> Race | None:
    if file.concurrency == 1:
        return None
    if file.replay_trace:
        raise ReportError("replay_trace: has steps although concurrency is above 1, expected none")
    asked = {lane.selector for lane in file.concurrency_lanes}
    return Race(file.concurrency, asked.pop() if len(asked) == 1 else None)


def _lane(record: LaneRecord) -> Lane:
    responses = tuple(Response(each.method, each.url, each.status) for each in record.responses)
    return Lane(record.lane, record.selector, crashes=record.crashes, responses=responses, final_text=record.final_text)


def _untimed(failure: Failure) -> Failure:
    return Failure(failure.identity, count=failure.count)


def _notes(file: LokiFile) -> Iterator[str]:
    for text in own_trouble(file):
        yield f"LOKI itself could not go on: {text[:300]}"
    if any(lane.selector is None for lane in file.concurrency_lanes):
        yield "a lane had no selector; each clicks its first visible button"
