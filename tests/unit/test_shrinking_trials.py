"""Trying candidates: in order whatever ends first, never twice, and cleanly cut off."""

import threading

import pytest
from shrinking import FAILURE, FAULT, TERMS, Knowing, incident_with, keeping, shrunk

from runner.browser.trace import Click
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.journal import open_journal
from runner.controller.shrinking.shrink import shrink_each
from runner.controller.shrinking.trials import Trials, Tried
from runner.errors import EngineUnavailable
from runner.incidents.identity import Identity
from runner.incidents.model import Failure

ONE, TWO, THREE = (Candidate((Click("#a"),) * number) for number in (1, 2, 3))


@pytest.fixture
def journal(tmp_path):
    with open_journal(tmp_path / "journal.jsonl", TERMS) as opened:
        yield opened


class Reversing(Knowing):
    """Ends a candidate only after a longer one has."""

    def __init__(self, shows):
        super().__init__(shows)
        self.ended = {each.digest(): threading.Event() for each in (ONE, TWO, THREE)}

    def play(self, candidate):
        longer = [each for each in (ONE, TWO, THREE) if len(each.trace) > len(candidate.trace)]
        if longer:
            assert self.ended[longer[0].digest()].wait(30)
        try:
            return super().play(candidate)
        finally:
            self.ended[candidate.digest()].set()


def test_the_first_in_order_wins_though_it_ends_last(journal):
    player = Reversing(lambda candidate: candidate != ONE)
    with Trials(player, journal, jobs=3) as trials:
        assert trials.first(FAILURE, [ONE, TWO, THREE]) == 1
    assert player.played == [each.digest() for each in (THREE, TWO, ONE)]


def test_nothing_more_is_begun_once_one_shows(journal):
    player = Knowing(lambda candidate: candidate == TWO)
    with Trials(player, journal) as trials:
        assert trials.first(FAILURE, [ONE, TWO, THREE]) == 1
    assert player.played == [ONE.digest(), TWO.digest()]


def test_the_same_candidate_is_played_once(journal):
    player, told = Knowing(lambda _: False), []
    with Trials(player, journal, jobs=4, watch=told.append) as trials:
        assert trials.first(FAILURE, [ONE, ONE, TWO, ONE]) is None
        assert trials.first(FAILURE, [TWO, ONE]) is None
        assert trials.first("another", [TWO]) is None
    assert sorted(player.played) == sorted([ONE.digest(), TWO.digest()])
    assert told[2:] == [Tried("another", TWO, "shows_not", known=True)]
    assert {tried.candidate for tried in told[:2]} == {ONE, TWO}


def test_a_run_that_says_nothing_gets_a_second_one(journal):
    answers = iter([None, True])
    with Trials(Knowing(lambda _: next(answers)), journal) as trials:
        assert trials.first(FAILURE, [ONE]) == 0


def test_a_failure_that_shows_in_one_of_several_runs_shows(journal):
    answers = iter([False, None, True])
    player = Knowing(lambda _: next(answers))
    with Trials(player, journal, runs=3) as trials:
        assert trials.answer(FAILURE, ONE) == "shows"
    assert len(player.played) == 3


@pytest.mark.parametrize(("answers", "answer"), [
    ([None] * 3, "undecided"), ([None, False, False], "shows_not"), ([False, None, None], "shows_not")])
def test_what_says_nothing_does_not_show(journal, answers, answer):
    told, line = [], iter(answers)
    with Trials(Knowing(lambda _: next(line)), journal, runs=2, watch=told.append) as trials:
        assert trials.first(FAILURE, [ONE]) is None
        assert trials.answer(FAILURE, ONE) == answer
    assert next(line, "no more") == "no more"  # one more run than usual
    assert told == [Tried(FAILURE, ONE, answer, known=False)]


@pytest.mark.parametrize(("shows", "state", "played"), [
    (lambda _: False, "not_shown", 1), (lambda _: None, "undecided", 2)])
def test_what_does_not_show_at_all_is_not_shrunk(journal, shows, state, played):
    player = Knowing(shows)
    done = shrunk(journal, player, THREE)
    assert (done.state, done.after, len(player.played)) == (state, THREE, played)


def test_a_result_that_is_not_seen_again_is_unconfirmed(journal):
    seen = []

    def once(candidate):
        seen.append(candidate)
        return len(candidate.trace) >= 2 and seen.count(candidate) == 1

    done = shrunk(journal, Knowing(once), THREE)
    assert (done.state, done.after) == ("unconfirmed", TWO)


class Both(Knowing):
    """Two failures: one needs a click on #pay, the other one on #report."""

    def play(self, candidate):
        super().play(candidate)
        shown = {step.selector for step in candidate.trace}
        needs = ((FAILURE, "#pay"), (OTHER.identity.id, "#report"))
        return frozenset(name for name, needed in needs if needed in shown)


OTHER = Failure(Identity("http_error", method="GET", url="http://127.0.0.1:8801/api/report", status=500))


def test_what_was_seen_for_one_failure_counts_for_the_next(journal):
    whole, player = Candidate((Click("#pay"), Click("#report"))), Both(lambda _: False)
    with Trials(player, journal) as trials:
        done = shrink_each(incident_with(whole, FAULT, OTHER), [FAULT, OTHER], trials, keeping(player))
        first, second = done
    assert [step.selector for step in (*first.after.trace, *second.after.trace)] == ["#pay", "#report"]
    assert (first.tried, first.cached) == (3, 0)  # all, nothing, the first half
    assert (second.tried, second.cached) == (4, 3)
    assert len(player.played) == 3 + 1 + 1 + 1  # and each confirmed


class Failing(Knowing):
    """The engine goes away while other candidates are under way; they end when they are cancelled."""

    def __init__(self):
        super().__init__(lambda _: False)
        self.under_way = threading.Barrier(3)
        self.end = threading.Event()

    def play(self, candidate):
        self.under_way.wait(30)
        if candidate == ONE:
            raise EngineUnavailable("gone")
        assert self.end.wait(30)
        if candidate == TWO:
            return super().play(candidate)
        raise EngineUnavailable("cancelled")

    def cancel(self):
        super().cancel()
        self.end.set()


def test_a_fault_ends_what_is_under_way_and_keeps_what_ended_by_itself(tmp_path):
    player = Failing()
    with pytest.raises(EngineUnavailable, match="gone"), open_journal(tmp_path / "journal.jsonl", TERMS) as journal, \
            Trials(player, journal, jobs=3) as trials:
        trials.first(FAILURE, [ONE, TWO, THREE])
    assert player.cancelled
    with open_journal(tmp_path / "journal.jsonl", TERMS) as journal:
        assert journal.entries == ((TWO.digest(), frozenset()),)
