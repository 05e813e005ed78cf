"""Every row of the samples' tables, at the level of what a driver tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from incident_samples import answered, lanes, played, sample, thrown

from runner.browser.outcome import Lane, Outcome, Response, Signal, StepRecord
from runner.browser.trace import Click, Fill, Offline, Press, Step
from runner.incidents.identity import Identity
from runner.incidents.model import Incident, OwnPart
from runner.oracles.events import SessionJudgement, judge_session

CRASH, RACE = sample("loki/crash"), sample("loki/race")
FORM, CART, WALLET = sample("browser/benefits_form"), sample("browser/cart_store"), sample("browser/wallet_race")
ITEMS = "Cannot read properties of undefined (reading 'items')"
REPORT = "http://127.0.0.1:8801/api/report"
REDEEM, WITHDRAW = "http://127.0.0.1:8801/api/redeem", "http://127.0.0.1:8815/api/withdraw"
WHEN = "Cannot read properties of null (reading 'when')"
REDUCE = "Cannot read properties of undefined (reading 'reduce')"
QUOTA = thrown("Failed to execute 'setItem' on 'Storage': Setting the value of 'cart' exceeded the quota.", step=3)
INLINE = "http://127.0.0.1:8814/:9:30"
ECHO = Signal("console_error", 1, 2.0, "Failed to load resource: the server responded with a status of 500 ()")


def counts(judgement: SessionJudgement) -> tuple[str, int, int, int]:
    return judgement.kind, len(judgement.found), len(judgement.missing), len(judgement.new)


def missing_at(incident: Incident, index: int) -> Outcome:
    outcome = played(incident)
    steps = [replace(step, state="skipped") if step.index > index else step for step in outcome.steps]
    steps[index] = StepRecord(index, "missing", 1.0, 2.0, "#pay: no such element", "shot-0.png")
    return replace(outcome, state="diverged", steps=tuple(steps))


def absent(incident: Incident) -> tuple[Lane, ...]:
    return tuple(Lane(lane.lane, lane.selector, missing=True) for lane in incident.lanes)


@pytest.mark.parametrize(("incident", "outcome", "expected"), [
    # LOKI's crash sample: buggy, both bugs seen as page error and rejection; fixed; the report alone fixed.
    (CRASH, played(CRASH, thrown(ITEMS), thrown(ITEMS, kind="unhandled_rejection"),
                   answered(500, "GET", REPORT, step=1), ECHO), ("judged", 2, 0, 0)),
    (CRASH, played(CRASH), ("judged", 0, 2, 0)),
    (CRASH, played(CRASH, thrown(ITEMS)), ("judged", 1, 1, 0)),
    (CRASH, Outcome("unreachable", "connection refused"), ("not_run", 0, 0, 0)),
    (CRASH, Outcome("not_ready", "nothing answered"), ("not_run", 0, 0, 0)),
    (CRASH, missing_at(CRASH, 0), ("diverged", 0, 2, 0)),
    (CRASH, played(CRASH, thrown("undefinedThing is not defined"), answered(404, "GET", "http://127.0.0.1:8801/a.png")),
     ("judged", 0, 2, 2)),
    # LOKI's race sample.
    (RACE, played(RACE, lanes=lanes("POST", REDEEM, 200, 200, 200)), ("judged", 1, 0, 0)),
    (RACE, played(RACE, lanes=lanes("POST", REDEEM, 200, 409, 200)), ("judged", 1, 0, 0)),
    (RACE, played(RACE, lanes=lanes("POST", REDEEM, 409, 409, 409)), ("precondition", 0, 1, 0)),
    (RACE, played(RACE, *(answered(409, "POST", REDEEM, lane=lane) for lane in (1, 2)),
                  lanes=lanes("POST", REDEEM, 200, 409, 409)), ("judged", 0, 1, 0)),
    (RACE, Outcome("unreachable"), ("not_run", 0, 0, 0)),
    # The form: the last POST fails; a script error on another page is news.
    (FORM, played(FORM, answered(500, "POST", "http://127.0.0.1:8811/apply/3", step=9)), ("judged", 1, 0, 0)),
    (FORM, played(FORM), ("judged", 0, 1, 0)),
    (FORM, Outcome("not_ready"), ("not_run", 0, 0, 0)),
    (FORM, missing_at(FORM, 0), ("diverged", 0, 1, 0)),
    (FORM, played(FORM, thrown("Cannot set properties of null (setting 'hidden')",
                               "http://127.0.0.1:8811/apply/2:1:70")), ("judged", 0, 1, 1)),
    (FORM, played(FORM, answered(500, "POST", "http://127.0.0.1:8811/apply/2")), ("judged", 0, 1, 1)),
    # The shop: two bugs, and the injector's own error, which is neither.
    (CART, played(CART, QUOTA, thrown(WHEN, kind="unhandled_rejection", step=5), thrown(REDUCE, INLINE, step=6),
                  Signal("ui_freeze", 6, 9.0, "the page is blank")), ("judged", 2, 0, 0)),
    (CART, played(CART), ("judged", 0, 2, 0)),
    (CART, played(CART, answered(502, "POST", "http://127.0.0.1:8814/api/checkout", step=5)), ("judged", 0, 2, 1)),
    (CART, played(CART, thrown(REDUCE, INLINE, step=6)), ("judged", 1, 1, 0)),
    (CART, played(CART, QUOTA, thrown(WHEN, step=5)), ("judged", 1, 1, 0)),
    (CART, missing_at(CART, 3), ("diverged", 0, 2, 0)),
    # The wallet.
    (WALLET, played(WALLET, lanes=lanes("POST", WITHDRAW, 200, 200, 200)), ("judged", 1, 0, 0)),
    (WALLET, played(WALLET, lanes=lanes("POST", WITHDRAW, 409, 200, 409)), ("judged", 0, 1, 0)),
    (WALLET, played(WALLET, lanes=lanes("POST", WITHDRAW, 409, 409, 409)), ("precondition", 0, 1, 0)),
    (WALLET, played(WALLET, lanes=lanes("POST", WITHDRAW, 500, 200, 500)), ("judged", 0, 1, 1)),
    (WALLET, played(WALLET, lanes=absent(WALLET)), ("diverged", 0, 1, 0)),
    (WALLET, Outcome("not_launched", "no such browser"), ("not_run", 0, 0, 0)),
])
def test_every_row_of_the_samples(incident: Incident, outcome: Outcome, expected: tuple[str, int, int, int]) -> None:
    assert counts(judge_session(incident, outcome)) == expected


def test_a_divergence_names_step_selector_and_screenshot() -> None:
    judgement = judge_session(CRASH, missing_at(CRASH, 4))
    assert judgement.divergence is not None
    assert (judgement.divergence.step, judgement.divergence.selector, judgement.divergence.screenshot) == (
        4, "#pay", "shot-0.png")
    assert judgement.detail == "step 4, #pay: #pay: no such element"
    raced = judge_session(WALLET, played(WALLET, lanes=absent(WALLET)))
    assert raced.detail == "lane 0, #withdraw: no such element"


def test_noise_is_listed_with_its_rule() -> None:
    noise = judge_session(CART, played(CART, QUOTA, QUOTA, thrown("x", own="injected"))).noise
    assert [(each.rule, each.count) for each in noise] == [("quota", 2), ("injected", 1)]


def test_the_blank_page_that_a_recording_names_is_found_beside_its_error() -> None:
    incident = replace(CART, failures=(*CART.failures[1:], replace(CART.failures[1], identity=Identity("ui_freeze"))))
    judgement = judge_session(incident, played(incident, thrown(REDUCE, INLINE, step=6),
                                               Signal("ui_freeze", 6, 9.0, "the page is blank")))
    assert counts(judgement) == ("judged", 2, 0, 0)


def repeated(key: str, *digests: str) -> tuple[Lane, ...]:
    return tuple(Lane(index, "#redeem", 1.0, responses=(Response("POST", REDEEM, 200, key, digest),))
                 for index, digest in enumerate(digests))


@pytest.mark.parametrize(("seen", "found"), [
    (repeated("k", "a", "a", "a"), 0), (repeated("k", "a", "b", "a"), 1), (repeated("", "a", "a", "a"), 1),
])
def test_repeats_of_one_idempotent_request_are_no_race(seen: tuple[Lane, ...], found: int) -> None:
    judgement = judge_session(RACE, played(RACE, lanes=seen))
    assert counts(judgement) == ("judged", found, 1 - found, 0)
    assert judgement.race[0].succeeded + judgement.race[0].repeats == 3


def with_session(*statuses: int) -> tuple[Lane, ...]:
    """Each lane gets a session of its own first, which never is a race."""
    return tuple(replace(lane, responses=(Response("POST", "http://127.0.0.1:8801/api/session", 201), *lane.responses))
                 for lane in lanes("POST", REDEEM, *statuses))


def test_what_every_lane_may_do_is_no_race_by_itself() -> None:
    recorded = replace(RACE, lanes=with_session(200, 200, 200))
    assert counts(judge_session(recorded, played(recorded, lanes=with_session(200, 200, 409)))) == ("judged", 1, 0, 0)
    assert counts(judge_session(recorded, played(recorded, lanes=with_session(409, 200, 409)))) == ("judged", 0, 1, 0)
    assert judge_session(recorded, played(recorded, lanes=with_session(409, 409, 409))).kind == "precondition"


def test_a_race_that_the_recording_did_not_have_is_news() -> None:
    recorded = replace(RACE, lanes=lanes("POST", REDEEM, 200, 409, 500), failures=CRASH.failures[1:])
    judgement = judge_session(recorded, played(recorded, lanes=lanes("POST", REDEEM, 200, 200, 409)))
    assert [failure.identity.key for failure in judgement.new] == [f"race: POST {REDEEM}"]


def test_no_request_at_all_is_no_all_clear_unless_something_new_explains_it() -> None:
    silent = tuple(Lane(index, "#redeem", 1.0) for index in range(3))
    judgement = judge_session(RACE, played(RACE, lanes=silent))
    assert (judgement.kind, judgement.detail) == ("precondition", f"precondition not met: no lane sent POST {REDEEM}")
    broken = tuple(replace(lane, crashes=("redeem is not a function",)) for lane in silent)
    assert counts(judge_session(RACE, played(RACE, lanes=broken))) == ("judged", 0, 1, 1)


def test_a_browser_that_ended_in_the_middle_decides_only_what_it_showed() -> None:
    whole = judge_session(CRASH, played(CRASH, thrown(ITEMS), answered(500, "GET", REPORT), state="crashed"))
    part = judge_session(CRASH, played(CRASH, thrown(ITEMS), state="crashed"))
    assert (counts(whole), whole.conclusive) == (("crashed", 2, 0, 0), True)
    assert (counts(part), part.conclusive) == (("crashed", 1, 1, 0), False)


def test_a_step_that_worked_when_it_was_recorded_must_work_again() -> None:
    own = OwnPart(steps=(StepRecord(0, "done", 0.0, 1.0),))
    incident = replace(CRASH, source="runner", trace=(Click("#pay"),), own=own)
    failed = replace(played(incident), steps=(StepRecord(0, "failed", 0.0, 1.0, "not an input"),))
    assert judge_session(incident, failed).kind == "diverged"
    assert judge_session(replace(incident, own=OwnPart(steps=failed.steps)), failed).kind == "judged"


@pytest.mark.parametrize(("step", "kind"), [
    (Click("#pay"), "diverged"), (Fill("#name", "x"), "diverged"), (Press("Enter", "#name"), "diverged"),
    (Click("#pay", repeat=5), "judged"), (Offline(True), "judged"),
])
def test_loki_keeps_what_worked_and_bursts_that_may_not_have(step: Step, kind: str) -> None:
    incident = replace(CRASH, trace=(step,))
    failed = replace(played(incident), steps=(StepRecord(0, "failed", 0.0, 1.0, "not an input"),))
    assert judge_session(incident, failed).kind == kind
    shown = replace(failed, signals=(thrown(ITEMS), answered(500, "GET", REPORT)))
    assert judge_session(incident, shown).accepted
