"""What is left out together, and what a candidate is then."""

from runner.browser.faults import ApiFault, StateFault
from runner.browser.trace import ApiFaultStep, Click, CookieEviction, Fill, StateFaultStep
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.parts import Part, keep, parts_of
from runner.controller.shrinking.values import fewer_clicks, fewer_lanes, loosened, shorter_input, smaller

PAY, REPORT = Click("#pay", repeat=5), Click("#report", repeat=5)
URL = "http://127.0.0.1:8801/api/report"


def first_where(shows):
    return lambda candidates: next((at for at, each in enumerate(candidates) if shows(each)), None)


def test_the_kth_state_fault_goes_with_the_kth_step_that_carries_one_out():
    quota, drift = StateFault("quota_exceeded", "Storage"), StateFault("clock_drift", "clock", offset_ms=1)
    whole = Candidate((StateFaultStep("quota_exceeded"), PAY, StateFaultStep("clock_drift")),
                      state_faults=(quota, drift))
    parts = parts_of(whole)
    assert parts == (Part(0, state_fault=0), Part(1), Part(2, state_fault=1))
    assert keep(whole, parts[1:]) == Candidate((PAY, whole.trace[2]), state_faults=(drift,))
    assert keep(whole, parts) == whole


def test_faults_that_no_step_stands_for_are_parts_of_their_own():
    whole = Candidate((PAY,), (ApiFault("delay", "GET", URL),), (StateFault("clock_drift", "clock"),))
    assert parts_of(whole) == (Part(0), Part(api_fault=0), Part(state_fault=0))
    assert keep(whole, [Part(api_fault=0)]).trace == ()


def test_a_mark_goes_with_the_first_fault_of_its_kind_that_is_left():
    faults = (ApiFault("status_code", "GET", URL, status=500), ApiFault("delay", "GET", URL),
              ApiFault("status_code", "GET", URL, status=502),
              ApiFault("cookie_eviction", "COOKIE", "document.cookies"))
    mark = ApiFaultStep("status_code", URL)
    whole = Candidate((REPORT, mark, mark, mark, CookieEviction()), faults)
    assert parts_of(whole) == (Part(0), Part(1, 0), Part(2, 2), Part(3), Part(4, 3), Part(api_fault=1))


def test_a_fault_waits_for_the_next_step_that_is_kept():
    def at(step):
        return ApiFault("delay", "GET", URL, from_step=step, step=step)

    whole = Candidate((PAY, REPORT, PAY, REPORT), (at(-1), at(0), at(2), at(3)))
    kept = keep(whole, [Part(1), Part(3), *(Part(api_fault=k) for k in range(4))])
    assert [fault.from_step for fault in kept.api_faults] == [-1, 0, 1, 1]
    assert [fault.step for fault in kept.api_faults] == [-1, -1, 0, 1]
    assert [fault.from_step for fault in keep(whole, [Part(0), Part(2), Part(api_fault=1)]).api_faults] == [0]
    assert [fault.from_step for fault in keep(whole, [Part(0), Part(api_fault=3)]).api_faults] == [0]
    assert [fault.from_step for fault in keep(whole, [Part(api_fault=3)]).api_faults] == [-1]


def test_candidates_that_play_the_same_have_one_digest():
    assert Candidate((PAY,)).digest() == Candidate((Click("#pay", repeat=5),)).digest()
    others = (Candidate(), Candidate((PAY,)), Candidate((PAY, PAY)), Candidate((Click("#pay", repeat=4),)),
              Candidate((Fill("#pay"),)), Candidate((Fill("#pay", "\ud800"),)), Candidate(lanes=2),
              Candidate(api_faults=(ApiFault("delay", "GET", URL),)))
    assert len({each.digest() for each in others}) == 8


def test_the_size_counts_each_click():
    whole = Candidate((PAY, Fill("#name", "x")), (ApiFault("delay", "GET", URL),),
                      (StateFault("clock_drift", "clock"),))
    assert (len(whole.trace), whole.actions, whole.faults) == (2, 6, 2)


def test_numbers_to_try_end_with_one_less():
    assert smaller(5, 1) == [1, 3, 4]
    assert smaller(2, 1) == [1]
    assert smaller(500, 0) == [0, 250, 375, 438, 469, 485, 493, 497, 499]


def test_fewer_clicks_of_each_step():
    whole = Candidate((PAY, REPORT))
    needed = first_where(lambda each: each.trace[0].repeat >= 2)
    assert fewer_clicks(whole, needed) == Candidate((Click("#pay", repeat=2), Click("#report", repeat=1)))


def test_the_shortest_beginning_of_an_input():
    whole = Candidate((Fill("#name", "A" * 300 + "B" * 200),))
    assert shorter_input(whole, first_where(lambda each: len(each.trace[0].value) > 100)).trace[0].value == "A" * 101
    assert shorter_input(whole, first_where(lambda each: "AB" in each.trace[0].value)).trace[0].value == "A" * 300 + "B"
    assert shorter_input(whole, first_where(lambda _: True)).trace[0].value == ""


def test_a_race_keeps_two_lanes():
    assert fewer_lanes(Candidate(lanes=8), first_where(lambda _: True)).lanes == 2
    assert fewer_lanes(Candidate(lanes=8), first_where(lambda each: each.lanes >= 5)).lanes == 5
    assert fewer_lanes(Candidate(), first_where(lambda _: True)).lanes == 0


def test_counted_requests_become_steps_where_that_still_shows_it():
    def fault(occurrence, step):
        return ApiFault("delay", "GET", URL, occurrence=occurrence, step=step)

    whole = Candidate((REPORT,) * 3, (fault(2, 0), fault(7, 1), fault(9, 2)))
    loose = loosened(whole, first_where(lambda _: True)).api_faults
    assert [(each.occurrence, each.from_step) for each in loose] == [(0, 0), (0, 1), (0, 2)]
    one = loosened(whole, first_where(lambda each: each.api_faults[1].occurrence == 7)).api_faults
    assert [each.occurrence for each in one] == [0, 7, 0]
    assert loosened(whole, first_where(lambda _: False)) == whole
