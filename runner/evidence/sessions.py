"""From judged sessions to one verdict, and to one row for each recorded failure. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from runner.errors import ExitCode, UsageError, printable
from runner.evidence.verdict import Verdict, VerdictKind
from runner.incidents.identity import Identity, fits
from runner.incidents.model import Incident
from runner.oracles.events import SessionJudgement, deciding

RowState = Literal["reproduced", "not_reproduced", "partly", "unknown"]
"""``reproduced``: seen in every run. ``not_reproduced``: in none. ``partly``: in some. ``unknown``: in none, but not
every run can say so."""

_SHOWN_KEY = 200
_MOST_NEW = 10


@dataclass(frozen=True, slots=True)
class IdentityRow:
    """One recorded failure over all sessions: seen in ``seen`` of ``runs``.

    ``decides``: the verdict rests on it. Beside a grave failure others do not decide, because they may be on purpose.
    """

    identity: Identity
    state: RowState
    seen: int
    runs: int
    decides: bool = True


@dataclass(frozen=True, slots=True)
class NewRow:
    """A failure that fits nothing recorded: seen in ``seen`` of ``runs`` sessions."""

    identity: Identity
    seen: int
    runs: int


@dataclass(frozen=True, slots=True)
class SessionsVerdict:
    """The verdict, what became of each recorded failure, and news."""

    verdict: Verdict
    rows: tuple[IdentityRow, ...] = ()
    new: tuple[NewRow, ...] = field(default=())


def check_reproducible(incident: Incident) -> None:
    """Whether there is anything to reproduce, to be asked before anything is run. Raises UsageError."""
    if not incident.failures:
        raise UsageError("the incident records no failure of the application, so there is nothing to reproduce",
                         hint="faults that the session put in itself, and noise, are no failures")


def decide_sessions(incident: Incident, judgements: Sequence[SessionJudgement], requested: int) -> SessionsVerdict:
    """One verdict over all sessions. Reproduced, when one recorded failure at least was seen in every one of them: a
    grave one (:func:`runner.incidents.identity.is_grave`), if there is any in the recording.

    A session that diverged, whose browser crashed or whose precondition was not met decides nothing, unless it showed
    every failure that decides before; with one of these among the sessions, what was not seen is not said to be gone.
    Raises UsageError for an incident without failures.
    """
    check_reproducible(incident)
    recorded = list(dict.fromkeys(failure.identity for failure in incident.failures))
    grave = deciding(recorded)
    conclusive = len(judgements) == requested and all(judgement.conclusive for judgement in judgements)
    rows = tuple(replace(_row(identity, judgements, conclusive), decides=identity in grave) for identity in recorded)
    new = _news(judgements)
    return SessionsVerdict(_verdict(rows, new, judgements, requested, conclusive), rows, new)


def _row(identity: Identity, judgements: Sequence[SessionJudgement], conclusive: bool) -> IdentityRow:
    runs = sum(judgement.kind != "not_run" for judgement in judgements)
    seen = sum(identity in judgement.found for judgement in judgements)
    state: RowState = "partly"
    if seen == len(judgements) > 0:
        state = "reproduced"
    elif seen == 0:
        state = "not_reproduced" if conclusive else "unknown"
    return IdentityRow(identity, state, seen, runs)


def _news(judgements: Sequence[SessionJudgement]) -> tuple[NewRow, ...]:
    runs = sum(judgement.kind != "not_run" for judgement in judgements)
    found: list[tuple[Identity, set[int]]] = []
    for index, judgement in enumerate(judgements):
        for failure in judgement.new:
            place = next((sessions for identity, sessions in found if _same(identity, failure.identity)), None)
            if place is None:
                place = set()
                found.append((failure.identity, place))
            place.add(index)
    return tuple(NewRow(identity, len(sessions), runs) for identity, sessions in found)


def _same(one: Identity, other: Identity) -> bool:
    return fits(one, other) or fits(other, one)


def _verdict(rows: Sequence[IdentityRow], new: Sequence[NewRow], judgements: Sequence[SessionJudgement],
             requested: int, conclusive: bool) -> Verdict:
    if not any(judgement.kind != "not_run" for judgement in judgements):
        reasons = _course_reasons(judgements) or ("no run was finished",)
        return Verdict(VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED, reasons)
    rest = (*_row_reasons(rows), *_new_reasons(new))
    if not conclusive:
        short = (f"{len(judgements)} of {requested} runs were finished",) if len(judgements) < requested else ()
        return Verdict(VerdictKind.NO_VERDICT, ExitCode.NO_VERDICT, (*short, *_course_reasons(judgements), *rest))
    if any(row.state == "reproduced" for row in rows if row.decides):
        return Verdict(VerdictKind.REPRODUCED, ExitCode.OK, (*rest, *_course_reasons(judgements)))
    return Verdict(VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED, (*rest, *_course_reasons(judgements)))


def _row_reasons(rows: Sequence[IdentityRow]) -> tuple[str, ...]:
    runs = max((row.runs for row in rows), default=0)
    still = [row for row in rows if row.state == "reproduced"]
    if still and len(still) == len(rows):
        what = "every recorded failure" if len(rows) > 1 else "the recorded failure"
        return (f"{what} was seen in {runs} of {runs} runs",)
    partly = "partly: " if any(row.decides for row in still) else ""
    return tuple((partly if row.decides else "decides nothing: ") + _told(row) for row in rows)


def _told(row: IdentityRow) -> str:
    words = {"reproduced": "still there", "not_reproduced": "gone", "partly": "not in every run", "unknown": "not seen"}
    return f"{_key(row.identity)}: {words[row.state]} ({row.seen} of {row.runs} runs)"


def _course_reasons(judgements: Sequence[SessionJudgement]) -> tuple[str, ...]:
    words = {"diverged": "diverged at ", "crashed": "the browser ended in the middle: ", "precondition": "",
             "not_run": "could not run: ", "judged": ""}
    return tuple(printable(f"run {index}: {words[judgement.kind]}{judgement.detail}"[:600])
                 for index, judgement in enumerate(judgements, 1) if judgement.kind != "judged")


def _new_reasons(new: Sequence[NewRow]) -> tuple[str, ...]:
    shown = tuple(f"new failure seen: {_key(row.identity)} ({row.seen} of {row.runs} runs)" for row in new[:_MOST_NEW])
    return (*shown, f"and {len(new) - _MOST_NEW} other new failures") if len(new) > _MOST_NEW else shown


def _key(identity: Identity) -> str:
    return identity.key if len(identity.key) <= _SHOWN_KEY else identity.key[:_SHOWN_KEY - 1] + "…"
