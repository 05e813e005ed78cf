from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from runner.errors import ExitCode, InputError, PatternError
from runner.oracles.match import Matcher, Span, compile_check, escape, literal_of
from runner.oracles.matching_process import MatchingProcess

RUNAWAY = "(a+)+$"
HOSTILE = "a" * 60 + "b"


@pytest.mark.parametrize(("pattern", "text", "span"), [
    ("boom", "a boom", Span(2, 6)),
    ("boom", "none", None),
    (r"line \(3\)\.", "line (3).", Span(0, 9)),
    (r"b\d+", "a b42", Span(2, 5)),
    ("(?i)BOOM", "boom", Span(0, 4)),
    ("(?m)^x$", "y\nx\nz", Span(2, 3)),
    ("^x", "y\nx", None),
    (".*", "\n", Span(0, 0)),
    ("\x00.", "a\x00b", Span(1, 3)),
    ("\udc80.", "\udc80x", Span(0, 2)),
    ("é+", "caféé", Span(3, 5)),
    ("\U0001f600.", "\U0001f600!", Span(0, 2)),
    ("", "anything", Span(0, 0)),
])
def test_search_is_that_of_re(pattern: str, text: str, span: Span | None) -> None:
    with Matcher(pattern) as matcher:
        assert matcher.search(text) == span
        assert matcher.search_any([text, text]) == [span is not None] * 2
    found = re.search(pattern, text)
    assert span == (found and Span(*found.span()))


def test_no_pattern_is_found_everywhere() -> None:
    with Matcher() as matcher:
        assert matcher.search_any(["", "x"]) == [True, True]


@pytest.mark.parametrize("text", [HOSTILE, HOSTILE * 2])
def test_a_runaway_pattern_ends_in_one_clear_error(text: str) -> None:
    with Matcher(RUNAWAY, budget_seconds=0.3) as matcher:
        with pytest.raises(PatternError, match=r"did not finish within 0\.3 seconds") as caught:
            matcher.search(text)
        assert isinstance(caught.value, InputError)
        assert caught.value.exit_code is ExitCode.NOTHING_JUDGED
        with pytest.raises(PatternError, match="did not finish"):
            matcher.search("short")


def test_the_budget_is_shared_by_derived_matchers() -> None:
    with Matcher(RUNAWAY, budget_seconds=0.3) as matcher:
        with pytest.raises(PatternError):
            matcher.search(HOSTILE)
        with pytest.raises(PatternError):
            matcher.for_pattern(r"\d").search("1")
        assert matcher.for_pattern("plain").search("plain text") == Span(0, 5)


def test_compiling_is_bounded_too() -> None:
    with pytest.raises(PatternError, match="did not finish"):
        compile_check("(?i)" + "[\x00-\U0010fffe]" * 500, budget_seconds=0.3)


@pytest.mark.parametrize(("pattern", "why"), [
    ("(", "missing \\), unterminated subpattern"),
    ("[a", "unterminated character set"),
    ("a{99999999999}", "repetition number is too large"),
    ("(?P<x>a)(?P<x>b)", "redefinition of group name"),
    ("\\", "bad escape"),
    ("(?<=a+)b", "look-behind requires fixed-width"),
])
def test_an_invalid_pattern_is_named_with_its_reason(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=f"not a valid regular expression: .*{why}"):
        compile_check(pattern)


def test_an_invalid_pattern_does_not_end_the_process() -> None:
    with Matcher("[") as matcher:
        with pytest.raises(PatternError):
            matcher.compile_check()
        assert matcher.for_pattern("b+").search("abb") == Span(1, 3)


def test_a_pattern_that_needs_too_much_memory() -> None:
    process = MatchingProcess(budget_seconds=60, memory_bytes=128 << 20)
    try:
        with pytest.raises(PatternError, match="memory"):
            process.spans("x+", ["y" * (96 << 20)])
    finally:
        process.close()


def test_large_texts_pass_through() -> None:
    text = "é\n" * 2_000_000 + "needle 7"
    with Matcher(r"needle \d") as matcher:
        assert matcher.search(text) == Span(4_000_000, 4_000_008)


def test_threads_share_one_matcher() -> None:
    with Matcher(r"n\d+") as matcher, ThreadPoolExecutor(4) as pool:
        spans = list(pool.map(matcher.search, ["-" * number + "n1" for number in range(40)]))
    assert spans == [Span(number, number + 2) for number in range(40)]


def test_a_closed_matcher_starts_again_when_needed() -> None:
    with Matcher(r"\d") as matcher:
        assert matcher.search("1") == Span(0, 1)
        matcher.close()
        assert matcher.search("x2") == Span(1, 2)


@pytest.mark.parametrize(("pattern", "literal"), [
    ("plain text #1", "plain text #1"),
    (r"a\.b\(c\)\ \é", "a.b(c) é"),
    ("a.b", None),
    (r"\d", None),
    (r"\n", None),
    ("a\\", None),
    ("x{2}", None),
    ("a|b", None),
    ("", ""),
])
def test_literals(pattern: str, literal: str | None) -> None:
    assert literal_of(pattern) == literal


def test_escaping_is_undone_by_reading_a_literal() -> None:
    text = r"a.b*c (d) [e] {f} \g ^h$ i|j? +k -l /m #n"
    assert literal_of(escape(text)) == text
    assert re.fullmatch(escape(text), text)
