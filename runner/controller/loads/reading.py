"""What a load driver left behind: its outcome, parsed as a claim, and its files. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

from runner.controller.loads.request import GREETING
from runner.errors import NoVerdict, ReportError, printable
from runner.evidence.observation import Observation
from runner.load.outcome import OUTCOME_FILE, OUTPUT_FOLDER, EngineRun, Lifecycle, LoadOutcome, State
from runner.sandbox.exit import RESOURCE_CAUSES, Cause
from runner.sources.jsontext import parse_json

_PREFIX = f"{OUTPUT_FOLDER}/".encode()
_LONGEST, _MOST = 2000, 1000


@dataclass(frozen=True, slots=True)
class LoadLeft:
    """The outcome, and the other files by name. ``ran``: the application answered, so something was run."""

    outcome: LoadOutcome
    files: dict[str, bytes] = field(default_factory=dict)
    ran: bool = True


def left_by(observation: Observation) -> LoadLeft:
    """What one run left. Never raises: a driver that left nothing, or nothing that can be believed, has crashed."""
    ran = observation.stdout.head.startswith(GREETING)
    files = {item.path.removeprefix(_PREFIX).decode("ascii", "replace"): item.data
             for item in observation.artifacts if item.path.startswith(_PREFIX)}
    raw = files.pop(OUTCOME_FILE, None)
    if raw is None:
        return LoadLeft(_without(observation, ran), files, ran)
    try:
        return LoadLeft(parse_outcome(raw), files, ran)
    except NoVerdict as error:
        return LoadLeft(LoadOutcome("crashed", error.message), files, ran)


def parse_outcome(raw: bytes) -> LoadOutcome:
    """Every type and count is checked. Raises NoVerdict."""
    try:
        document = parse_json(raw).value
        if not isinstance(document, dict) or document.keys() != {one.name for one in fields(LoadOutcome)}:
            raise ValueError("its fields are not those of an outcome")
        return _outcome(document)
    except (ReportError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = error.message if isinstance(error, ReportError) else str(error)
        raise NoVerdict(f"the driver's outcome cannot be believed: {printable(said)[:200]}") from None


def _outcome(raw: dict[str, Any]) -> LoadOutcome:
    fixture = raw["fixture"]
    if fixture is not None and not isinstance(fixture, dict):
        raise ValueError("fixture is no object")
    return LoadOutcome(
        _one_of(raw["state"], get_args(State)), _text(raw["detail"]), _one_of(raw["lifecycle"], get_args(Lifecycle)),
        engine=_engine(raw["engine"]), fixture=fixture,
        fixture_failures=tuple(_text(item) for item in _listed(raw["fixture_failures"])),
        fixture_requests=_count(raw["fixture_requests"]), fixture_writes=_count(raw["fixture_writes"]),
        cleaned=raw["cleaned"] if raw["cleaned"] is None else _flag(raw["cleaned"]),
        observations=tuple(_observation(item) for item in _listed(raw["observations"])),
        observer_requests=_count(raw["observer_requests"]),
        dropped=tuple((_text(name), _count(size)) for name, size in _listed(raw["dropped"])),
        elapsed_seconds=_seconds(raw["elapsed_seconds"]), files=tuple(_text(item) for item in _listed(raw["files"])))


def _engine(raw: Any) -> EngineRun | None:
    if raw is None:
        return None
    if raw.keys() != {one.name for one in fields(EngineRun)}:
        raise ValueError("its fields are not those of an engine")
    code, number = raw["exit_code"], raw["signal"]
    return EngineRun(_text(raw["version"]), None if code is None else _count(code),
                     None if number is None else _count(number), _text(raw["started_at"]), _text(raw["finished_at"]),
                     _seconds(raw["seconds"]), _flag(raw["timed_out"]), _flag(raw["survivors"]))


def _observation(raw: Any) -> dict[str, Any]:
    document = dict(raw)
    _text(document["assertion"])
    _one_of(document["status"], ("pass", "fail", "unknown"))
    return document


def _without(observation: Observation, ran: bool) -> LoadOutcome:
    """Why there is no outcome."""
    status, target = observation.status, observation.target
    if status.cause is Cause.NOT_STARTED:
        return LoadOutcome("crashed", f"the driver could not be started: {status.detail}")
    if not ran and target is not None and target.status.cause is not Cause.STOPPED:
        code = "" if target.status.returncode is None else f" {target.status.returncode}"
        return LoadOutcome("not_ready", f"the application ended before it answered: {target.status.cause}{code}")
    if not ran and status.cause is Cause.TIMED_OUT:
        return LoadOutcome("not_ready", "nothing answered in time")
    if status.cause is Cause.TIMED_OUT:
        return LoadOutcome("crashed", "the run did not end in time")
    if status.cause in RESOURCE_CAUSES:
        return LoadOutcome("crashed", f"the load ran out of a resource: {status.cause}")
    return LoadOutcome("crashed", f"the driver left no outcome: {status.cause}")


def shown(outcome: LoadOutcome) -> LoadOutcome:
    """The same, with texts that are safe to print."""
    return replace(outcome, detail=printable(outcome.detail),
                   fixture_failures=tuple(map(printable, outcome.fixture_failures)))


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError("a text is none, or too long")
    return value


def _one_of(value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise ValueError("a word is none of those that are known")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise ValueError("a number is none, or out of bounds")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError("a time is none, or out of bounds")
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("a flag is neither true nor false")  # noqa: TRY004 - all that is wrong here is one thing
    return value


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST:
        raise ValueError("a list is none, or too long")
    return value
