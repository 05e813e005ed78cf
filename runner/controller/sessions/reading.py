"""What a driver left behind in one run: its outcome, parsed as a claim, and its files. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from runner.browser.outcome import LAUNCHED_LINE, OUTCOME_FILE, OUTPUT_FOLDER, Outcome
from runner.controller.sessions.times import GREETING
from runner.errors import NoVerdict, printable
from runner.evidence.observation import Observation
from runner.incidents.outcomes import is_plain_name, parse_outcome
from runner.sandbox.exit import RESOURCE_CAUSES, Cause

_PREFIX = f"{OUTPUT_FOLDER}/".encode()
_TOLD = 300
MAX_FILES = 64


@dataclass(frozen=True, slots=True)
class Left:
    """The driver's outcome and its other files by name; or ``None``, and ``why``.

    ``started``: the application answered, so something was played.
    """

    outcome: Outcome | None
    files: dict[str, bytes] = field(default_factory=dict)
    why: str = ""
    started: bool = True


def left_by(observation: Observation) -> Left:
    """What one run's driver left. Never raises: an outcome that cannot be believed is none, and a file whose name is
    not plain is left where it is.
    """
    started = observation.stdout.head.startswith(GREETING)
    named = ((item.path.removeprefix(_PREFIX).decode("ascii", "replace"), item.data)
             for item in observation.artifacts[:MAX_FILES] if item.path.startswith(_PREFIX))
    files = {name: data for name, data in named if is_plain_name(name)}
    raw = files.pop(OUTCOME_FILE, None)
    if raw is None:
        return Left(None, files, _why_without(observation, started), started)
    try:
        return Left(parse_outcome(raw), files, started=started)
    except NoVerdict as error:
        return Left(None, files, error.message)


def _why_without(observation: Observation, started: bool) -> str:
    status, target = observation.status, observation.target
    if status.cause is Cause.NOT_STARTED:
        return f"the driver could not be started: {status.detail}"
    if not started and target is not None and target.status.cause is not Cause.STOPPED:
        return f"the application ended before it answered: {_ended(target)}"
    if not started and status.cause is Cause.TIMED_OUT:
        launched = observation.stdout.head.startswith(LAUNCHED_LINE)
        return "the application did not answer in time" if launched else "the browser did not start in time"
    if status.cause is Cause.TIMED_OUT:
        return "the session did not end in time"
    if status.cause in RESOURCE_CAUSES:
        return f"the browser ran out of a resource: {status.cause}"
    return f"the driver left no outcome: {status.cause}" + (f", {status.detail}" if status.detail else "")


def _ended(target: Observation) -> str:
    """How an application ended, and the last thing that it said."""
    status = target.status
    how = str(status.cause) if status.returncode is None else f"{status.cause} {status.returncode}"
    lines = (target.stderr.kept.strip() or target.stdout.kept.strip()).splitlines()
    said = printable(lines[-1].decode("utf-8", "replace"))[:_TOLD] if lines else status.detail
    return f"{how} ({said})" if said else how
