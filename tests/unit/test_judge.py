from __future__ import annotations

from collections.abc import Iterator

import pytest
from observations import exited, observed, signaled, traceback_text

from runner.evidence.observation import Observation, Stream, Workspace
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.oracles.judge import judge
from runner.oracles.match import Matcher
from runner.sandbox.exit import Cause, ExitStatus

KEY = PythonSignature("KeyError", "'b'", ("app/pricing.py:pick", "app/pricing.py:total", "chained.py:main"))
SHORT = PythonSignature("KeyError", "'b'", ("app/pricing.py:pick", "app/pricing.py:total", "test_one.py:test_total"))
SEGV = ProcessSignature("posix_signal", 11)


@pytest.fixture(scope="module")
def matcher() -> Iterator[Matcher]:
    with Matcher() as shared:
        yield shared


@pytest.mark.parametrize(("contract", "run"), [
    (Contract(7, "boom"), observed("boom", status=exited(7))),
    (Contract(None, "boom"), observed(stdout="a boom b", status=exited(3))),
    (Contract(0, "boom"), observed("boom", status=exited(0))),
    (Contract(1), observed()),
    (Contract(1, ""), observed()),
    (Contract(137, "memory"), observed("out of memory?", status=exited(137))),
    (Contract(139), observed(status=signaled(11))),
    (Contract(-11), observed(status=signaled(11))),
    (Contract(1, "(?s)out.*err"), observed("err", stdout="out")),
    (Contract(1, "out\nerr"), observed("err", stdout="out")),
    (Contract(1, "\ufffd"), observed(b"\xff")),
    (Contract(None, "KeyError", KEY), observed(traceback_text("chained"))),
    (Contract(1, None, KEY), observed(traceback_text("chained"))),
    (Contract(1, r"E\s+KeyError", SHORT), observed(stdout=traceback_text("pytest_one_short"))),
    (Contract(None, None, SEGV), observed(status=signaled(11))),
    (Contract(77, None, SEGV), observed(status=signaled(11))),
    (Contract(None, None, ProcessSignature("exit_code", 139)), observed(status=exited(139))),
    (Contract(1, "x"), observed("x", workspace=Workspace.FULL_BYTES)),
])
def test_accepted(contract: Contract, run: Observation, matcher: Matcher) -> None:
    judgement = judge(contract, run, matcher)
    assert (judgement.accepted, judgement.mismatch_reason, judgement.outcome) == (True, None, "passed")
    assert judgement.actual_exit_code == run.status.returncode
    assert judgement.cause is run.status.cause


TIMED_OUT = exited(124, cause=Cause.TIMED_OUT)
OOM = signaled(9, Cause.OOM_KILLED)


@pytest.mark.parametrize(("contract", "run", "reason", "outcome"), [
    (Contract(124, "boom"), observed("boom", status=TIMED_OUT), "timeout", "timed_out"),
    (Contract(None, None, ProcessSignature("exit_code", 124)), observed(status=TIMED_OUT), "timeout", "timed_out"),
    (Contract(137, "boom"), observed("boom", status=OOM), "resource", "resource_exhausted"),
    (Contract(None, None, ProcessSignature("posix_signal", 9)), observed(status=OOM), "resource",
     "resource_exhausted"),
    (Contract(None, None, ProcessSignature("posix_signal", 25)), observed(status=signaled(25, Cause.DISK_LIMIT)),
     "resource", "resource_exhausted"),
    (Contract(None), observed(status=exited(137, cause=Cause.OUTPUT_LIMIT)), "resource", "resource_exhausted"),
    (Contract(137), observed(status=exited(137, hint=9, child_oom=True)), "resource", "resource_exhausted"),
    (Contract(2), observed(status=exited(1, child_oom=True)), "exit_code", "failed"),
    (Contract(None), observed(status=exited(None, cause=Cause.INIT_LOST)), "no_verdict", "no_verdict"),
    (Contract(None), observed(status=exited(None, cause=Cause.NOT_STARTED)), "no_verdict", "no_verdict"),
    (Contract(None), observed(status=exited(None, cause=Cause.CANCELLED)), "no_verdict", "no_verdict"),
    (Contract(8, "absent"), observed(status=exited(7)), "exit_code", "failed"),
    (Contract(None), observed(status=exited(0)), "exit_code", "failed"),
    (Contract(0), observed(status=exited(1)), "exit_code", "failed"),
    (Contract(-11), observed(status=exited(139)), "exit_code", "failed"),
    (Contract(None, None, SEGV), observed(status=exited(0)), "exit_code", "failed"),
    (Contract(1, "absent", KEY), observed(traceback_text("chained")), "match", "failed"),
    (Contract(1, "KeyError", SHORT), observed(traceback_text("chained")), "signature", "failed"),
    (Contract(1, None, KEY), observed("nothing"), "signature", "failed"),
    (Contract(None, None, SEGV), observed(status=exited(139, hint=11)), "signature", "failed"),
    (Contract(None, None, ProcessSignature("windows_status", 0xC0000005)), observed(), "signature", "failed"),
    (Contract(1, "absent"), observed(workspace=Workspace.FULL_INODES), "resource", "resource_exhausted"),
    (Contract(2), observed(workspace=Workspace.FULL_BYTES), "resource", "resource_exhausted"),
    (Contract(2), observed(status=TIMED_OUT, workspace=Workspace.FULL_BYTES), "timeout", "timed_out"),
])
def test_not_accepted(contract: Contract, run: Observation, reason: str, outcome: str, matcher: Matcher) -> None:
    judgement = judge(contract, run, matcher)
    assert (judgement.accepted, judgement.mismatch_reason, judgement.outcome) == (False, reason, outcome)


def test_a_full_volume_settles_the_cause(matcher: Matcher) -> None:
    full = observed(workspace=Workspace.FULL_BYTES)
    assert judge(Contract(2), full, matcher).cause is Cause.DISK_LIMIT
    assert judge(Contract(1), full, matcher).cause is Cause.EXITED


@pytest.mark.parametrize(("contract", "expected"), [
    (Contract(7), 7), (Contract(None), None), (Contract(0), 0), (Contract(139, None, SEGV), None),
])
def test_the_expected_exit_code(contract: Contract, expected: int | None, matcher: Matcher) -> None:
    judgement = judge(contract, observed(status=exited(3)), matcher)
    assert (judgement.expected_exit_code, judgement.actual_exit_code) == (expected, 3)


@pytest.mark.parametrize(("signature", "status", "detail"), [
    (KEY, exited(1), "another class and message and frames"),
    (SEGV, exited(139, hint=11), ("exit code 139, which is the shell's claim of signal 11 (SIGSEGV), "
                                  "recorded was signal 11 (SIGSEGV)")),
])
def test_the_detail_says_what_differs(signature: PythonSignature | ProcessSignature, status: ExitStatus,
                                      detail: str, matcher: Matcher) -> None:
    run = observed(traceback_text("bare"), status=status)
    assert judge(Contract(None, None, signature), run, matcher).detail == detail


def test_a_match_that_may_be_in_what_was_not_kept_is_no_verdict(matcher: Matcher) -> None:
    run = Observation(1, exited(1), stdout=Stream(bytes=1 << 40, truncated=True, head=b"a", tail=b"b"))
    assert judge(Contract(1, "x"), run, matcher).mismatch_reason == "no_verdict"
    assert judge(Contract(1, "a"), run, matcher).accepted
    assert judge(Contract(2, "x"), run, matcher).mismatch_reason == "exit_code"


def test_rooted_and_legacy_frames(matcher: Matcher) -> None:
    text = traceback_text("bare").replace("/workspace/", "/home/me/workspace/x/")
    run = observed(text, root="/home/me/workspace/x")
    rooted = PythonSignature("AssertionError", "", ("bare.py:go", "bare.py:run", "bare.py:<module>"))
    legacy = PythonSignature("AssertionError", "", tuple(f"x/{frame}" for frame in rooted.frames), rooted=False)
    assert judge(Contract(1, None, rooted), run, matcher).accepted
    assert judge(Contract(1, None, legacy), run, matcher).accepted
    assert not judge(Contract(1, None, rooted), run, matcher, "/home/me").accepted


def test_what_repomin_recorded_of_pytests_short_form_is_still_met(matcher: Matcher) -> None:
    recorded = PythonSignature("KeyError", "'b'", ("test_two.py:test_b",))
    assert judge(Contract(1, "KeyError", recorded), observed(traceback_text("pytest_two_short")), matcher).accepted


JAVA = JavaSignature("java.lang.NumberFormatException", 'For input string: "x1"', (
    "java.lang.NumberFormatException.forInputString", "java.lang.Integer.parseInt", "java.lang.Integer.parseInt"))
REPORT = (b"<s><failure>a.StockException: none left\n\tat a.Shelf.take(Shelf.java:3)\n</failure></s>")
REPORTED = JavaSignature("a.StockException", "none left", ("a.Shelf.take",))


def test_java_from_the_output(matcher: Matcher) -> None:
    assert judge(Contract(1, "StockException", JAVA), observed(traceback_text("java_nested")), matcher).accepted


def test_java_prefers_the_test_reports(matcher: Matcher) -> None:
    run = observed(traceback_text("java_nested"), reports={b"t/surefire-reports/TEST-a.xml": REPORT})
    assert judge(Contract(1, "none left", REPORTED), run, matcher).accepted
    assert judge(Contract(1, None, JAVA), run, matcher).mismatch_reason == "signature"


def test_test_reports_are_searched_only_for_a_java_signature(matcher: Matcher) -> None:
    run = observed("BUILD FAILURE", reports={b"t/surefire-reports/TEST-a.xml": REPORT})
    assert judge(Contract(1, "none left"), run, matcher).mismatch_reason == "match"


def test_test_reports_without_a_stack_are_passed_over(matcher: Matcher) -> None:
    report = {b"surefire-reports/TEST-a.xml": b"<s><error type='a.BError' message='m'/></s>"}
    run = observed(traceback_text("java_nested"), reports=report)
    assert judge(Contract(1, None, JAVA), run, matcher).accepted
