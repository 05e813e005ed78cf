from __future__ import annotations

from collections.abc import Iterator

import pytest
from observations import exited, numbered, observed, signaled, traceback_text

from runner.evidence.observation import Observation
from runner.oracles.match import Matcher
from runner.oracles.propose import Wanted, disagreements
from runner.sandbox.exit import Cause

KEY = traceback_text("chained")
BARE = traceback_text("bare")


@pytest.fixture(scope="module")
def matcher() -> Iterator[Matcher]:
    with Matcher() as shared:
        yield shared


@pytest.mark.parametrize(("runs", "wanted", "said"), [
    ([observed("a"), observed("a", status=exited(0)), observed("a")], Wanted(),
     "how it ended: runs 1, 3: exit code 1; run 2: exit code 0"),
    ([observed(status=signaled(11)), observed()], Wanted(),
     "how it ended: run 1: killed by signal 11 (SIGSEGV); run 2: exit code 1"),
    ([observed(), observed(status=exited(124, cause=Cause.TIMED_OUT))], Wanted(),
     "how it ended: run 1: exit code 1; run 2: timed out"),
    ([observed("lo"), observed("hi"), observed("lo")], Wanted(match="lo"),
     "match: runs 1, 3: found; run 2: not found"),
    ([observed(BARE), observed(traceback_text("lower"))], Wanted(),
     "signature: run 1: AssertionError; run 2: struct.error"),
    ([observed(BARE), observed("gone"), observed("gone")], Wanted(),
     "signature: run 1: AssertionError; runs 2, 3: no exception stands out"),
    ([observed(BARE), observed(BARE.replace("in go", "in other"))], Wanted(),
     ("signature: run 1: AssertionError:  in bare.py:go, bare.py:run, bare.py:<module>; "
      "run 2: AssertionError:  in bare.py:other, bare.py:run, bare.py:<module>")),
    ([observed(KEY), observed(KEY.replace("'b'", "'z'"))], Wanted(match="KeyError"),
     ("signature: run 1: KeyError: 'b' in app/pricing.py:pick, app/pricing.py:total, chained.py:main; "
      "run 2: KeyError: 'z' in app/pricing.py:pick, app/pricing.py:total, chained.py:main")),
    ([observed(stdout="names came out as ('lo', 'hi')\n"), observed(stdout="names came out as ('hi', 'lo')\n")],
     Wanted(), ("output: run 1: ends with 'names came out as ('lo', 'hi')'; "
                "run 2: ends with 'names came out as ('hi', 'lo')'")),
])
def test_what_they_disagree_about(runs: list[Observation], wanted: Wanted, said: str, matcher: Matcher) -> None:
    assert disagreements(numbered(*runs), matcher, wanted) == (said,)


@pytest.mark.parametrize(("runs", "wanted"), [
    ([observed("1 failed in 0.09s\n"), observed("1 failed in 1.20s\n")], Wanted()),
    ([observed(stdout="at 0x7f01\n"), observed(stdout="at 0x7f02\n")], Wanted()),
    ([observed("no\n"), observed("no\n")], Wanted()),
    ([observed(), observed()], Wanted()),
    ([observed(KEY), observed("warning: slow\n" + KEY)], Wanted()),
    ([observed(KEY + BARE), observed(BARE + KEY)], Wanted()),
    ([observed(BARE.replace("AssertionError", f"OSError: at {number:#x}")) for number in range(3)], Wanted()),
    ([observed("a lo"), observed("b lo")], Wanted(match="lo")),
    ([observed("some words"), observed("other things")], Wanted(exit_code=1)),
    ([observed("x", status=signaled(11)), observed("y", status=signaled(11))], Wanted()),
    ([observed(BARE), observed(traceback_text("lower"))], Wanted(match="e", signature=None)),
    ([observed("fatal: it broke\nrandom a\n"), observed("fatal: it broke\nrandom b\n")], Wanted()),
])
def test_harmless_differences(runs: list[Observation], wanted: Wanted, matcher: Matcher) -> None:
    assert disagreements(numbered(*runs), matcher, wanted) == ()


def test_how_it_ended_and_the_match_are_both_named(matcher: Matcher) -> None:
    runs = numbered(observed("lo"), observed("hi", status=exited(0)))
    assert [text.split(":")[0] for text in disagreements(runs, matcher, Wanted(match="lo"))] == [
        "how it ended", "match"]


def test_hostile_output_is_quoted_safely(matcher: Matcher) -> None:
    runs = numbered(observed("\x1b[31mone thing \u202e\n"), observed("quite another\n"))
    (said,) = disagreements(runs, matcher)
    assert said.isprintable()
