"""One verdict over all sessions, and a row for each recorded failure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from incident_samples import answered, lanes, played, sample, thrown

from runner.browser.outcome import Outcome
from runner.errors import ExitCode, UsageError
from runner.evidence.sessions import SessionsVerdict, check_reproducible, decide_sessions
from runner.evidence.verdict import VerdictKind
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident
from runner.oracles.events import judge_session

CRASH, RACE = sample("loki/crash"), sample("loki/race")
ITEMS = "Cannot read properties of undefined (reading 'items')"
REPORT, REDEEM = "http://127.0.0.1:8801/api/report", "http://127.0.0.1:8801/api/redeem"
ERROR, ANSWER = thrown(ITEMS), answered(500, "GET", REPORT)

BOTH, FIXED = played(CRASH, ERROR, ANSWER), played(CRASH)
FIRST, SECOND = played(CRASH, ERROR), played(CRASH, ANSWER)
OTHER = played(CRASH, thrown("boom"))
DEAD, LOST = Outcome("unreachable", "connection \x1brefused"), played(CRASH, ERROR, state="diverged", detail="step 1")
LATE = played(CRASH, ERROR, ANSWER, state="diverged", detail="step 7")


def decided(*outcomes: Outcome, requested: int | None = None) -> SessionsVerdict:
    judgements = [judge_session(CRASH, outcome) for outcome in outcomes]
    return decide_sessions(CRASH, judgements, len(outcomes) if requested is None else requested)


@pytest.mark.parametrize(("outcomes", "kind", "code", "states"), [
    ((BOTH, BOTH), "reproduced", ExitCode.OK, ("reproduced", "reproduced")),
    ((FIXED, FIXED), "not_reproduced", ExitCode.NOT_REPRODUCED, ("not_reproduced", "not_reproduced")),
    ((FIRST, FIRST), "reproduced", ExitCode.OK, ("reproduced", "not_reproduced")),
    ((BOTH, SECOND), "reproduced", ExitCode.OK, ("partly", "reproduced")),
    ((FIRST, SECOND), "not_reproduced", ExitCode.NOT_REPRODUCED, ("partly", "partly")),
    ((BOTH, FIXED), "not_reproduced", ExitCode.NOT_REPRODUCED, ("partly", "partly")),
    ((OTHER,), "not_reproduced", ExitCode.NOT_REPRODUCED, ("not_reproduced", "not_reproduced")),
    ((LOST,), "no_verdict", ExitCode.NO_VERDICT, ("reproduced", "unknown")),
    ((LATE,), "reproduced", ExitCode.OK, ("reproduced", "reproduced")),
    ((FIXED, LOST), "no_verdict", ExitCode.NO_VERDICT, ("partly", "unknown")),
    ((DEAD, DEAD), "no_verdict", ExitCode.NOTHING_JUDGED, ("unknown", "unknown")),
    ((DEAD, BOTH), "no_verdict", ExitCode.NO_VERDICT, ("partly", "partly")),
    ((FIXED, DEAD), "no_verdict", ExitCode.NO_VERDICT, ("unknown", "unknown")),
])
def test_verdicts(outcomes: tuple[Outcome, ...], kind: str, code: ExitCode, states: tuple[str, ...]) -> None:
    found = decided(*outcomes)
    assert (found.verdict.kind, found.verdict.exit_code) == (VerdictKind(kind), code)
    assert tuple(row.state for row in found.rows) == states
    assert found.verdict.reasons
    assert all(reason.isprintable() for reason in found.verdict.reasons)


def noted(*identities: Identity) -> Incident:
    return replace(CRASH, failures=tuple(Failure(identity) for identity in identities))


MILD = Identity("http_error", url="http://127.0.0.1:8801/api/me", status=401)
GRAVE = CRASH.failures[0].identity


@pytest.mark.parametrize(("incident", "outcome", "code", "decides"), [
    # An answer that is there on purpose does not make a repaired application a broken one.
    (noted(GRAVE, MILD), played(CRASH, answered(401, "GET", MILD.url)), ExitCode.NOT_REPRODUCED, (True, False)),
    (noted(GRAVE, MILD), played(CRASH, ERROR), ExitCode.OK, (True, False)),
    (noted(GRAVE, MILD), played(CRASH, ERROR, state="diverged"), ExitCode.OK, (True, False)),
    # With nothing graver in the recording it is what there is to reproduce.
    (noted(MILD), played(CRASH, answered(401, "GET", MILD.url)), ExitCode.OK, (True,)),
    (noted(MILD), played(CRASH), ExitCode.NOT_REPRODUCED, (True,)),
])
def test_what_may_be_on_purpose_decides_only_by_itself(incident: Incident, outcome: Outcome, code: ExitCode,
                                                       decides: tuple[bool, ...]) -> None:
    judgement = judge_session(incident, outcome)
    found = decide_sessions(incident, [judgement], 1)
    assert found.verdict.exit_code is code
    assert judgement.accepted is (code is ExitCode.OK)
    assert tuple(row.decides for row in found.rows) == decides
    assert ("decides nothing: http_error" in " ".join(found.verdict.reasons)) is (False in decides)


def test_reasons_tell_what_is_still_there_and_what_is_gone() -> None:
    reasons = decided(FIRST, FIRST).verdict.reasons
    assert reasons == (
        f"partly: pageerror: {ITEMS} at HTMLButtonElement.<anonymous> /: still there (2 of 2 runs)",
        f"partly: http_error: GET {REPORT} 500: gone (0 of 2 runs)")
    assert decided(BOTH, BOTH).verdict.reasons == ("every recorded failure was seen in 2 of 2 runs",)


def test_new_failures_are_told_apart_and_counted_over_the_runs() -> None:
    found = decided(OTHER, FIXED)
    assert [(row.identity.message, row.seen, row.runs) for row in found.new] == [("boom", 1, 2)]
    assert found.verdict.reasons[-1].startswith("new failure seen: pageerror: boom")
    many = played(CRASH, *(thrown(f"boom {word}") for word in "abcdefghijklmnop"))
    assert decided(many).verdict.reasons[-1] == "and 6 other new failures"


def test_a_race_has_a_rate() -> None:
    won, held = lanes("POST", REDEEM, 200, 200, 409), lanes("POST", REDEEM, 200, 409, 409)
    judgements = [judge_session(RACE, played(RACE, lanes=each)) for each in (won, held, won)]
    found = decide_sessions(RACE, judgements, 3)
    assert found.verdict.kind is VerdictKind.NOT_REPRODUCED
    assert found.verdict.reasons == (f"race: POST {REDEEM}: not in every run (2 of 3 runs)",)
    spent = judge_session(RACE, played(RACE, lanes=lanes("POST", REDEEM, 409, 409, 409)))
    assert decide_sessions(RACE, [spent], 1).verdict.exit_code is ExitCode.NO_VERDICT
    assert "precondition not met" in decide_sessions(RACE, [spent], 1).verdict.reasons[0]


def test_runs_that_are_missing_leave_the_verdict_open() -> None:
    assert decided(BOTH, requested=2).verdict.exit_code is ExitCode.NO_VERDICT
    assert decided(BOTH, requested=2).verdict.reasons[0] == "1 of 2 runs were finished"
    assert decided(requested=1).verdict.reasons == ("no run was finished",)


def test_an_incident_without_failures_has_nothing_to_reproduce() -> None:
    with pytest.raises(UsageError, match="nothing to reproduce"):
        check_reproducible(replace(CRASH, failures=()))
    with pytest.raises(UsageError, match="nothing to reproduce"):
        decide_sessions(replace(CRASH, failures=()), [], 1)
