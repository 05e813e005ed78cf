"""Oracles read what hostile programs print: they never raise, and large input ends."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.observation import Artifact, Observation, Stream
from runner.oracles.contract import Contract, JavaSignature, PythonSignature
from runner.oracles.disagreements import disagreements
from runner.oracles.judge import judge
from runner.oracles.match import Matcher, escape, literal_of
from runner.oracles.propose import propose_contract
from runner.oracles.signature.java import find_class, java_blocks
from runner.oracles.signature.lines import lines_of
from runner.oracles.signature.python import python_blocks
from runner.oracles.signature.reading import Reading
from runner.oracles.signature.surefire import collect_surefire
from runner.oracles.text import decoded
from runner.oracles.volatile import parts_of, pattern_for
from runner.sandbox.exit import Cause, ExitStatus

_WORDS = [b"Traceback (most recent call last):\n", b'  File "', b'", line 1, in f\n', b"E   ", b"a.py:1: in g\n",
          b"KeyError: x\n", b"\tat a.b(", b"a.BException", b": ", b"\n", b"\x1b[31m", b"[x] ", b"| ", b"Caused by: ",
          b"\xff", b"\x00", b"\r", b"0x1f", b"<s>", b"<error>", b"<!DOCTYPE x>", b"12:00:00.5 ", b"/tmp/x"]
_OUTPUT = st.lists(st.sampled_from(_WORDS) | st.binary(max_size=4), max_size=30).map(b"".join)


def _observation(stdout: bytes, stderr: bytes = b"", xml: bytes = b"", index: int = 1) -> Observation:
    return Observation(index, ExitStatus(Cause.EXITED, 1), stdout=Stream(head=stdout), stderr=Stream(head=stderr),
                       artifacts=(Artifact(b"surefire-reports/TEST-a.xml", xml),))


@given(_OUTPUT, _OUTPUT, _OUTPUT)
def test_judging_any_bytes_never_raises(stdout: bytes, stderr: bytes, xml: bytes) -> None:
    run = _observation(stdout, stderr, xml)
    with Matcher() as matcher:
        for signature in (PythonSignature("K", "x", ("a.py:f",)), JavaSignature("K", "x", ("a.b",)),
                          PythonSignature("K", "x", ("a.py:f",), rooted=False)):
            assert not judge(Contract(None, "x", signature), run, matcher).accepted


@given(_OUTPUT)
def test_what_is_proposed_of_equal_runs_is_met_by_them(output: bytes) -> None:
    runs = [_observation(output, index=index) for index in (1, 2)]
    with Matcher() as matcher:
        assert disagreements(runs, matcher) == ()
        contract = propose_contract(runs, matcher).contract
        assert all(judge(contract, run, matcher).accepted for run in runs)


@given(st.text("aB.$_1é :xErorFailuExceptionThwb", max_size=40))
def test_a_java_class_is_the_first_and_longest_name_that_fits(line: str) -> None:
    name = re.compile(r"(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$][\w$]*")
    fits = ((start, end) for start in range(len(line)) for end in range(start, len(line) + 1)
            if (end == len(line) or line[end] == ":") and _ends_as_exception(line[start:end])
            and name.fullmatch(line, start, end))
    assert find_class(line, Reading.REPOMIN) == next(fits, None)


def _ends_as_exception(name: str) -> bool:
    last = name.rpartition(".")[2]
    return any(last.endswith(suffix) and last[:1] not in "0123456789é" and last != suffix
               for suffix in ("Exception", "Error", "Throwable", "Failure"))


@given(st.text())
def test_lines_are_those_of_splitlines(text: str) -> None:
    assert list(lines_of(text)) == [line for line in text.splitlines() if line]


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_literal_is_found_where_re_finds_it(pattern: str, text: str) -> None:
    literal = literal_of(pattern)
    if literal is not None:
        found = re.search(pattern, text + literal)
        assert found is not None
        assert found.start() == (text + literal).find(literal)
    assert re.fullmatch(escape(text), text)
    assert literal_of(escape(text)) == text


@given(st.text("09afx:-./ tmps'Z", max_size=60))
def test_a_generalised_line_matches_itself(line: str) -> None:
    assert "".join(part.text for part in parts_of(line)) == line
    assert re.search(pattern_for([line]), line)


@given(_OUTPUT)
def test_reports_are_read_without_raising(xml: bytes) -> None:
    collect_surefire([Artifact(b"surefire-reports/TEST-a.xml", xml)])


HEADING = "Traceback (most recent call last):\n"
HOSTILE = {
    "brackets": "[" * 1_000_000,
    "bracket groups": "[a]" * 300_000,
    "control sequences": "\x1b[0" * 400_000,
    "open control sequence": "\x1b[" + "0" * 1_000_000,
    "margins": "|+ " * 400_000,
    "dotted names": "a." * 500_000 + "\n" + "a.Error." * 100_000,
    "names without end": "aError " * 150_000,
    "a name that nearly fits": "x" * 1_000_000 + "Error!",
    "file lines": HEADING + 'File "' * 200_000 + "\n" + 'File "' + '"' * 1_000_000,
    "line numbers": HEADING + 'File "a", line ' + "1" * 1_000_000 + "x\n" + 'File "a' + '", line 1' * 150_000 + "x",
    "places": "a.py:" * 200_000 + "\n" + "E   " + "a.py:1: in " * 90_000,
    "frames": "a.BError\n" + "\tat a.b(C)\n" * 30_000,
    "frame tokens": "a.BError\nat " + "x" * 1_000_000 + "\nat x" + " " * 1_000_000 + "y",
    "tracebacks": (HEADING + '  File "a.py", line 1, in f\nKeyError: x\n') * 20_500,
    "headings": HEADING * 20_000,
    "errors": "a.BError\n" * 30_000,
    "pytest errors": "a.py:1: in f\nE   KeyError: x\n" * 21_000,
    "empty lines": "\n" * 2_000_000,
    "dots and slashes": HEADING + 'File "' + "../" * 300_000 + 'x", line 1, in f\nKeyError',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_large_hostile_output_is_read_to_its_end(text: str) -> None:
    """Quadratic work on any of these would take hours."""
    for reading in Reading:
        assert len(python_blocks(text, reading, "/workspace")) <= len(text)
        assert len(java_blocks(text, reading)) <= len(text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_large_hostile_output_is_judged_and_proposed(text: str) -> None:
    runs = [_observation(text.encode(), index=index) for index in (1, 2)]
    assert decoded(runs[0].stdout) == text
    with Matcher() as matcher:
        contract = propose_contract(runs, matcher).contract
        assert judge(contract, runs[0], matcher).accepted
