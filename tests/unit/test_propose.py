from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from observations import exited, numbered, observed, signaled, traceback_text

from runner.errors import NoVerdict, PatternError
from runner.evidence.observation import Observation
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.oracles.judge import judge
from runner.oracles.match import Matcher
from runner.oracles.propose import Wanted, propose_contract
from runner.sandbox.exit import Cause

PYTEST = "E\\s+TypeError: expected string or bytes-like object, got 'NoneType'"
SEGV = ProcessSignature("posix_signal", 11, "SIGSEGV")


@pytest.fixture(scope="module")
def matcher() -> Iterator[Matcher]:
    with Matcher() as shared:
        yield shared


def _three(run: Observation) -> list[Observation]:
    return numbered(run, run, run)


def test_the_last_exception_and_its_header(matcher: Matcher) -> None:
    proposal = propose_contract(_three(observed(traceback_text("chained"))), matcher)
    assert proposal.contract == Contract(1, "RuntimeError: order:  could not be priced: b", PythonSignature(
        "RuntimeError", "order: could not be priced: b", ("chained.py:main", "chained.py:<module>")))
    assert proposal.notes == ()


def test_a_wanted_match_picks_the_exception(matcher: Matcher) -> None:
    proposal = propose_contract(_three(observed(traceback_text("chained"))), matcher, Wanted(match="KeyError"))
    assert proposal.contract.match == "KeyError"
    assert isinstance(proposal.contract.signature, PythonSignature)
    assert proposal.contract.signature.class_name == "KeyError"


@pytest.mark.parametrize(("name", "class_name"), [
    ("pytest_one_short", "KeyError"), ("pytest_one_auto", "KeyError"), ("pytest_two_short", "AssertionError"),
    ("pytest_broken_short", "SyntaxError"), ("lower", "struct.error"), ("local", "make.<locals>.Odd"),
    ("broken", "SyntaxError"), ("recursion", "RecursionError"), ("group", "ValueError"),
])
def test_python_failures_of_every_form(name: str, class_name: str, matcher: Matcher) -> None:
    runs = _three(observed(stdout=traceback_text(name)))
    contract = propose_contract(runs, matcher).contract
    assert isinstance(contract.signature, PythonSignature)
    assert contract.signature.class_name == class_name
    assert all(judge(contract, run, matcher).accepted for run in runs)


def test_a_java_failure(matcher: Matcher) -> None:
    contract = propose_contract(_three(observed(traceback_text("java_plain"))), matcher).contract
    assert contract == Contract(1, r'Exception in thread "main" java\.lang\.Exception: plain: boom', JavaSignature(
        "java.lang.Exception", "plain: boom", ("app.Plain.go", "app.Plain.main")))


def test_a_signal_is_a_process_signature_without_an_exit_code(matcher: Matcher) -> None:
    assert propose_contract(_three(observed(status=signaled(11))), matcher).contract == Contract(None, None, SEGV)


def test_a_signal_with_words(matcher: Matcher) -> None:
    run = observed("terminate called after throwing 'std::bad_alloc'\n", status=signaled(6))
    contract = propose_contract(_three(run), matcher).contract
    assert contract.match == "terminate called after throwing 'std::bad_alloc'"
    assert contract.signature == ProcessSignature("posix_signal", 6, "SIGABRT")


def test_volatile_parts_are_generalised(matcher: Matcher) -> None:
    runs = numbered(*(observed(
        f"[12:00:0{number}] error: worker 7 at 0x7f{number}a died in /tmp/run-{number}/x.py after 1.{number}s\n",
        stdout=f"token {number}\n") for number in range(3)))
    contract = propose_contract(runs, matcher).contract
    assert contract.match is not None
    assert "error: worker 7 at 0x[0-9A-Fa-f]+ died in" in contract.match
    assert re.search(contract.match, "[23:59:59] error: worker 7 at 0xff died in /tmp/else after 12.5s")
    assert not re.search(contract.match, "[23:59:59] error: worker 8 at 0xff died in /tmp/else after 12.5s")


def test_numbers_that_differ_between_runs_are_generalised(matcher: Matcher) -> None:
    runs = numbered(*(observed(f"fatal: 3 of {total} parts lost\n") for total in (10, 11, 12)))
    assert propose_contract(runs, matcher).contract == Contract(1, r"fatal: 3 of \d+ parts lost")


@pytest.mark.parametrize(("stderr", "stdout", "match"), [
    ("starting\nfatal: no such table\nbye, see you soon\n", "", "fatal: no such table"),
    ("", "all is well so far\nworker killed, status 247\n", "worker killed, status 247"),
    ("some last words here\n", "error: in the other stream\n", "error: in the other stream"),
    ("some last words here\n", "", "some last words here"),
    ("", "FAILED test_a.py::test - assert x\n==== 1 failed in 0.09s ====\n", r"FAILED test_a\.py::test - assert x"),
    ("\x1b[31merror:\x1b[0m cannot open the file\n", "", "cannot open the file"),
])
def test_the_telling_line(stderr: str, stdout: str, match: str, matcher: Matcher) -> None:
    assert propose_contract(_three(observed(stderr, stdout=stdout)), matcher).contract == Contract(1, match)


@pytest.mark.parametrize("stderr", ["", "no\n", "12:00:01 0x7f\n"])
def test_output_that_says_nothing_gives_no_match(stderr: str, matcher: Matcher) -> None:
    proposal = propose_contract(_three(observed(stderr, status=exited(3))), matcher)
    assert proposal.contract == Contract(3)
    assert "no match" in proposal.notes[-1]


def test_a_message_that_changes_gives_a_match_but_no_signature(matcher: Matcher) -> None:
    text = traceback_text("bare").replace("AssertionError", "ValueError: <Item object at 0x{}>")
    runs = numbered(*(observed(text.format(f"7f{number}0")) for number in range(3)))
    proposal = propose_contract(runs, matcher)
    assert proposal.contract == Contract(1, "ValueError: <Item object at 0x[0-9A-Fa-f]+>")
    assert "no signature" in proposal.notes[0]


def test_wanted_parts_are_kept(matcher: Matcher) -> None:
    run = observed(traceback_text("chained"), stdout="boom", status=exited(3))
    wanted = Wanted(match="boom", exit_code=3, signature=None)
    assert propose_contract(_three(run), matcher, wanted).contract == Contract(3, "boom")


def test_an_unmet_wish_is_proposed_all_the_same(matcher: Matcher) -> None:
    contract = propose_contract(_three(observed("x")), matcher, Wanted(match="absent", exit_code=2)).contract
    assert contract == Contract(2, "absent")


def test_a_wanted_process_signature(matcher: Matcher) -> None:
    contract = propose_contract(_three(observed(status=exited(3))), matcher, Wanted(signature="process")).contract
    assert contract == Contract(None, None, ProcessSignature("exit_code", 3))


@pytest.mark.parametrize("kind", ["java", "python"])
def test_a_signature_asked_for_by_name_must_be_there(kind: str, matcher: Matcher) -> None:
    wanted = Wanted(signature="java" if kind == "java" else "python")
    with pytest.raises(NoVerdict, match=f"no {kind} signature"):
        propose_contract(_three(observed("error: of another kind\n")), matcher, wanted)


def test_runs_that_timed_out_are_met_by_nothing(matcher: Matcher) -> None:
    runs = _three(observed("comment has 45 line ends\n", status=exited(124, cause=Cause.TIMED_OUT)))
    contract = propose_contract(runs, matcher).contract
    assert [judge(contract, run, matcher).mismatch_reason for run in runs] == ["timeout"] * 3


def test_an_invalid_wish_is_an_error(matcher: Matcher) -> None:
    with pytest.raises(PatternError):
        propose_contract(_three(observed("x")), matcher, Wanted(match="["))


def test_the_packaging_case(matcher: Matcher) -> None:
    stdout = ("test_marker.py:5: in test_no_extra_asked_for\n    assert Marker(x)\n"
              "vendor/packaging/_normalize.py:9: in canonicalize\n    return re.sub(x)\n"
              "E   TypeError: expected string or bytes-like object, got 'NoneType'\n1 failed in 0.0{}s\n")
    runs = numbered(*(observed(stdout=stdout.format(number)) for number in range(3)))
    contract = propose_contract(runs, matcher, Wanted(match=PYTEST, exit_code=1, signature="python")).contract
    assert contract.signature == PythonSignature(
        "TypeError", "expected string or bytes-like object, got 'NoneType'",
        ("vendor/packaging/_normalize.py:canonicalize", "test_marker.py:test_no_extra_asked_for"))
