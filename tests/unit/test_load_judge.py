"""The verdict: each row of the precedence table, every limitation, and how k6 may end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from load_oracle_samples import METRICS, PASSED, SCENARIO, complete, ended, event, logged, stage

from runner.load.outcome import EngineRun, LoadOutcome
from runner.oracles.load.engine_exit import CRASHES
from runner.oracles.load.findings import Kind
from runner.oracles.load.judge import PRECEDENCE, judge_load
from runner.oracles.load.model import Events, LoadJudgement, Metrics
from runner.scenarios.model import Budgets, Journey, Scenario

STAGED = replace(SCENARIO, journeys=(Journey("book", 3, 1, stages=("asked", "told")),))
GOOD, BAD = complete(), complete(event(passed=False, logical_key="k9"))
UNREACHED = replace(METRICS, unreachable=True)
DEAD = LoadOutcome("not_ready", "nothing listens on 127.0.0.1:1")


def judged(outcome: LoadOutcome = PASSED, events: Events = GOOD, metrics: Metrics = METRICS, *,
           scenario: Scenario = SCENARIO, artifact_bytes: int = 0) -> LoadJudgement:
    found = judge_load(scenario, outcome, events, metrics, artifact_bytes=artifact_bytes)
    assert all(text.isprintable() for text in (*found.reasons, *found.limitations))
    assert (found.verdict == "pass") == (found.reasons == ())
    return found


def failing(**changes: Any) -> LoadOutcome:
    return replace(PASSED, observations=({**PASSED.observations[0], "status": "fail"},), **changes)


def test_a_pass() -> None:
    found = judged()
    assert (found.verdict, found.complete, found.limitations, found.journeys) == ("pass", True, (), None)
    assert [row.status for row in found.assertions] == ["pass", "pass"]


def test_every_kind_of_finding_has_one_place_in_the_table() -> None:
    kinds = [kind for _, row in PRECEDENCE for kind in row]
    assert sorted(kinds) == sorted(get_args(Kind))
    assert [verdict for verdict, _ in PRECEDENCE] == ["fail", "error", "inconclusive"]


def test_a_failure_of_which_all_evidence_is_there_is_complete() -> None:
    found = judged(failing())
    assert (found.verdict, found.complete, found.limitations) == ("fail", True, ())
    assert found.reasons == ("seen: the final state differs",)


def test_a_crossed_threshold_fails() -> None:
    found = judged(ended(99))
    assert (found.verdict, found.complete) == ("fail", False)
    assert "threshold" in found.reasons[0]
    assert "threshold" in found.limitations[0]


ERRORS: list[tuple[str, dict[str, Any]]] = [
    ("max_requests was exceeded: 101 of 100", {"metrics": replace(METRICS, requests=100)}),
    ("max_write_attempts was exceeded: 21 of 20", {"metrics": replace(METRICS, writes=21)}),
    ("max_in_flight was exceeded: 9 of 8", {"metrics": replace(METRICS, vus_max=9)}),
    ("max_in_flight was exceeded: 9 of 8", {"metrics": replace(METRICS, in_flight_peak=9)}),
    ("max_artifact_bytes was exceeded", {"artifact_bytes": (1 << 20) + 1}),
    ("DELETE answered 500", {"outcome": replace(PASSED, fixture_failures=("DELETE answered 500",), cleaned=False)}),
    ("was not removed", {"outcome": replace(PASSED, cleaned=False)}),
    ("k6 was killed by signal 9",
     {"outcome": ended(None, engine=EngineRun("k6", None, 9), lifecycle="crashed")}),
    ("could not be started", {"outcome": ended(None, detail="could not be started", engine=None)}),
    ("the driver gave up: boom", {"outcome": LoadOutcome("crashed", "boom")}),
    ("the driver refused the job", {"outcome": LoadOutcome("refused")}),
    ("the application never answered: nothing listens", {"outcome": DEAD}),
]


@pytest.mark.parametrize(("reason", "parts"), ERRORS)
def test_errors(reason: str, parts: dict[str, Any]) -> None:
    found = judged(**parts)
    assert found.verdict == "error"
    assert reason in found.reasons[0]
    assert any(reason in text for text in found.limitations)


@pytest.mark.parametrize(("reason", "parts"), ERRORS)
def test_no_error_hides_a_proven_failure(reason: str, parts: dict[str, Any]) -> None:
    """Where LiteTraffic says error, and overwrites even a fail once files are too large."""
    found = judged(**{**parts, "events": BAD})
    assert found.verdict == "fail"
    assert found.reasons[0] == "held: 1 of 9 samples failed"
    assert any(reason in text for text in found.reasons[1:])


def test_fixture_requests_and_observations_count_towards_budgets() -> None:
    outcome = replace(PASSED, fixture_requests=2, fixture_writes=2, observer_requests=3)
    tight = replace(SCENARIO, budgets=Budgets(60, 21, 10, 8, 100))
    assert judged(outcome, scenario=tight, artifact_bytes=100).verdict == "pass"
    tighter = replace(SCENARIO, budgets=Budgets(60, 20, 9, 7, 99))
    assert len(judged(outcome, scenario=tighter, artifact_bytes=100).reasons) == 4


def test_unreachable_makes_failing_rows_unknown() -> None:
    unseen = replace(PASSED, observations=({"assertion": "seen", "status": "unknown", "reason": "refused"},))
    found = judged(unseen, BAD, UNREACHED)
    assert found.verdict == "error"
    assert [row.status for row in found.assertions] == ["unknown", "unknown"]
    assert "none of 16 requests got any HTTP answer" in found.reasons[0]


def test_an_application_that_an_observation_reached_is_not_unreachable() -> None:
    assert judged(failing(), BAD, UNREACHED).verdict == "fail"


def test_an_application_that_dies_in_the_middle_fails() -> None:
    assert judged(replace(PASSED, observations=()), BAD).verdict == "fail"


def test_a_fixture_that_cannot_be_made() -> None:
    """k6 is not run, and that is told once."""
    outcome = replace(PASSED, lifecycle="crashed", engine=EngineRun("k6 v1.1.0"), observations=(),
                      fixture_failures=("POST /rooms answered 500",), fixture_requests=1, fixture_writes=1)
    found = judged(outcome, logged(), Metrics({}))
    assert (found.verdict, found.complete, found.reasons[0]) == ("error", False, "POST /rooms answered 500")
    assert not any("exit code" in reason for reason in found.reasons)
    assert {row.status for row in found.assertions} == {"unknown"}


def test_after_a_failed_clean_up_the_evidence_is_complete() -> None:
    found = judged(replace(PASSED, fixture_failures=("DELETE answered 500",), cleaned=False))
    assert (found.verdict, found.complete, found.limitations) == ("error", True, ("DELETE answered 500",))


@pytest.mark.parametrize(("reason", "parts"), [
    ("held: missing", {"events": logged()}),
    ("held: partial", {"events": logged(event())}),
    ("held: 1 samples have no logical_key", {"events": complete(event(logical_key=...))}),
    ("held: 1 keys occur more than once", {"events": complete(event())}),
    ("seen: not observed", {"outcome": replace(PASSED, observations=())}),
    ("k6 dropped 2 journeys", {"metrics": replace(METRICS, dropped_iterations=2)}),
    ("7 of 8 planned journeys", {"metrics": replace(METRICS, iterations=7)}),
    ("9 of 8 planned journeys", {"metrics": replace(METRICS, iterations=9)}),
    ("book: at most 1 requests overlapped, 2 are wanted",
     {"scenario": replace(SCENARIO, journeys=(Journey("b", 3, 1, {"book": 2}),)),
      "metrics": replace(METRICS, overlap={"book": 1})}),
    ("heldd (1), paid (1)", {"events": complete(event(assertion="heldd"), stage("paid", "k"))}),
    ("1 LT_EVENT lines break a rule; the first one passed", {"events": complete(event(passed=1))}),
    ("1 of them of other runs", {"events": complete(event(run_id="run_other"))}),
    ("3 lines of k6's metrics", {"metrics": replace(METRICS, malformed=3)}),
    ("the load was timed out: 53 s", {"outcome": ended(105, lifecycle="timed_out", detail="53 s")}),
    ("the load was cancelled", {"outcome": ended(105, lifecycle="cancelled")}),
    ("still there after the last kill", {"outcome": ended(0, engine=EngineRun("k6", 0, survivors=True))}),
    ("console.log: 12 bytes beyond its cap", {"outcome": replace(PASSED, dropped=(("console.log", 12), ("x", 0)))}),
    ("k6 exited with 77", {"outcome": ended(77)}),
])
def test_limitations(reason: str, parts: dict[str, Any]) -> None:
    found = judged(**parts)
    assert (found.verdict, found.complete) == ("inconclusive", False)
    assert len(found.limitations) == 1
    assert reason in found.limitations[0]
    assert found.reasons == found.limitations


@pytest.mark.parametrize("code", sorted(CRASHES))
def test_known_exit_codes_have_words_of_their_own(code: int) -> None:
    found = judged(ended(code))
    assert found.verdict == "error"
    assert f"k6 exited with {code}: {CRASHES[code]}" in found.reasons


def test_the_table_of_exit_codes_is_whole() -> None:
    assert set(CRASHES) == {97, 98, *range(100, 110)}
    assert len(set(CRASHES.values())) == len(CRASHES)


def test_stages_that_several_journeys_declare() -> None:
    journeys = (Journey("a", 1, 1, stages=("in", "out")), Journey("b", 1, 1, stages=("on", "out")))
    found = judged(events=complete(stage("out", "k"), stage("out", "j")), scenario=replace(SCENARIO, journeys=journeys))
    assert "stages that several journeys declare: out (2)" in found.limitations


def test_nobody_at_the_last_stage_turns_a_pass_into_no_verdict() -> None:
    asked = [stage("asked", f"k{number}") for number in range(8)]
    assert judged(events=complete(*asked, stage("told", "k1")), scenario=STAGED).verdict == "pass"
    found = judged(events=complete(*asked), scenario=STAGED)
    assert (found.verdict, found.complete) == ("inconclusive", False)
    assert found.limitations == ("book: no journey reached its last stage, told",)
    assert found.journeys is not None
    failed = judged(failing(), complete(*asked), scenario=STAGED)
    assert (failed.verdict, failed.complete, len(failed.reasons)) == ("fail", True, 2)


def test_undeclared_names_are_kept_with_their_counts() -> None:
    events = complete(*(event(assertion=f"typo{number}") for number in range(300)), event(assertion="typo7"),
                      event(assertion="\x1b[31m"))
    found = judged(events=events)
    assert found.undeclared["typo7"] == 2
    assert len(found.undeclared) == 100
    assert "typo7 (2)" in found.limitations[0]
    assert "and 296 more" in found.limitations[0]


def test_the_decisive_reason_is_first() -> None:
    found = judged(failing(dropped=(("metrics.jsonl", 1),), cleaned=False), BAD, replace(METRICS, iterations=1))
    assert found.verdict == "fail"
    assert [reason.split(":")[0] for reason in found.reasons[:2]] == ["held", "seen"]
    assert found.reasons[2] == "what the run made was not removed"
    assert len(found.reasons) == 5
