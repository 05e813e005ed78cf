"""Whatever shows the failure: the result shows it, has nothing too many, and depends on the answers alone."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from math import ceil, log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shrinking import TERMS, Knowing, candidates, one_less, shrunk

from runner.controller.shrinking import journal as journal_room
from runner.controller.shrinking.ddmin import ddmin
from runner.controller.shrinking.journal import open_journal
from runner.controller.shrinking.search import shortest


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk():
    """What a power cut would leave is tested with the journal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_room.os, "fsync", lambda _: None)
        yield


SALTS = st.integers(0, 2**32)


def by_chance(salt, what, odds):
    """True in one of ``odds`` cases, always the same for the same."""
    return int.from_bytes(sha256(f"{salt} {what}".encode()).digest()[:8]) % odds == 0


class Asked:
    """``first`` over a predicate, counting different questions."""

    def __init__(self, shows):
        self.shows = shows
        self.questions = set()

    def __call__(self, tries):
        for at, each in enumerate(tries):
            self.questions.add(each)
            if self.shows(each):
                return at
        return None


@given(st.integers(0, 40), st.sets(st.integers(0, 39)))
def test_all_that_is_needed_and_no_more(number, wanted):
    needed = wanted & set(range(number))
    asked = Asked(lambda kept: needed <= set(kept))
    assert ddmin(range(number), asked) == tuple(sorted(needed))
    assert len(asked.questions) <= number**2 + 3 * number + 1


@given(st.integers(1, 24), SALTS, st.integers(2, 9))
def test_without_any_order_in_the_answers_nothing_single_is_too_many(number, salt, odds):
    whole = tuple(range(number))
    asked = Asked(lambda kept: kept == whole or by_chance(salt, kept, odds))
    found = ddmin(whole, asked)
    assert asked.shows(found)
    assert not any(asked.shows(found[:at] + found[at + 1:]) for at in range(len(found)))
    assert found == () or not asked.shows(())
    assert len(asked.questions) <= number**2 + 3 * number + 1


@given(st.integers(1, 2000), st.data())
def test_one_culprit_is_found_by_halving(number, data):
    culprit = data.draw(st.integers(0, number - 1))
    asked = Asked(lambda kept: culprit in kept)
    assert ddmin(range(number), asked) == (culprit,)
    assert len(asked.questions) <= 2 * ceil(log2(number)) + 3


@given(st.integers(0, 30), st.integers(1, 40), SALTS)
def test_any_first_division_ends_the_same_way(number, granularity, salt):
    whole = tuple(range(number))
    found = ddmin(whole, asked := Asked(lambda kept: kept == whole or by_chance(salt, kept, 4)), granularity)
    assert found == whole or asked.shows(found)
    assert not any(asked.shows(found[:at] + found[at + 1:]) for at in range(len(found)))


def answering(salt, odds, whole, undecided=0):
    """Answers by chance for all but the whole."""
    def shows(candidate):
        if undecided and by_chance(salt, f"? {candidate.digest()}", undecided):
            return None
        return candidate == whole or by_chance(salt, candidate.digest(), odds)
    return shows


@given(candidates(), SALTS, st.integers(2, 9), st.integers(-1, 9))
def test_the_shortest_session_has_nothing_too_many(whole, salt, odds, failing_step):
    asked = Asked(answering(salt, odds, whole))
    found = shortest(whole, asked, failing_step)
    assert asked.shows(found)
    assert not any(asked.shows(less) for less in one_less(found) if less != found)


@given(candidates(), st.data())
def test_what_a_failure_needs_is_what_is_left(whole, data):
    """Some steps, some clicks of them: as when a second click comes before the first one's answer."""
    needed = data.draw(st.sets(st.sampled_from(whole.trace))) if whole.trace else set()
    found = shortest(whole, Asked(lambda each: needed <= set(each.trace)))
    assert sorted(map(repr, found.trace)) == sorted(map(repr, needed))


def shrunk_in(folder: str, *arguments, **options):
    with open_journal(Path(folder) / "journal.jsonl", TERMS) as journal:
        return shrunk(journal, *arguments, **options)


@given(candidates(), SALTS, st.integers(2, 6), st.sampled_from([0, 5]))
@settings(max_examples=20, deadline=None)
def test_how_many_work_at_once_changes_nothing(whole, salt, odds, undecided):
    results = []
    for jobs in (1, 2, 3, 4):
        with tempfile.TemporaryDirectory() as name:
            done = shrunk_in(name, Knowing(answering(salt, odds, whole, undecided)), whole, jobs=jobs)
            results.append((done.state, done.after))
    assert results == results[:1] * 4


@given(candidates(), SALTS, st.integers(2, 6), st.integers(1, 3), st.data())
@settings(max_examples=40, deadline=None)
def test_interrupted_anywhere_and_resumed_it_is_the_same_and_nothing_is_repeated(whole, salt, odds, runs, data):
    shows = answering(salt, odds, whole)
    with tempfile.TemporaryDirectory() as name:
        straight = Knowing(shows)
        expected = shrunk_in(name, straight, whole, runs=runs)
    with tempfile.TemporaryDirectory() as name:
        cut = data.draw(st.integers(0, len(straight.played) - 1))
        interrupted, resumed = Knowing(shows, last=cut), Knowing(shows)
        with pytest.raises(KeyboardInterrupt):
            shrunk_in(name, interrupted, whole, runs=runs)
        found = shrunk_in(name, resumed, whole, runs=runs)
        assert (found.state, found.after, found.tried) == (expected.state, expected.after, expected.tried)
        again = len(resumed.played) + len(interrupted.played) - len(straight.played)
        assert 0 <= again < runs  # only the confirming runs are made again
