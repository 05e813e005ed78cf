from __future__ import annotations

import pytest

from runner.oracles.signature.lines import MAX_LINE, clean, clean_python, fold, lines_of


@pytest.mark.parametrize(("raw", "cleaned"), [
    ("  plain  ", "plain"),
    ("\x1b[1;31mred\x1b[0m text", "red text"),
    ("\x1b[2Kx", "x"),
    ("\x1bno control sequence", "\x1bno control sequence"),
    ("[ERROR] [main]  at x", "at x"),
    ("\x1b[31m[ERROR]\x1b[0m boom", "boom"),
    ("[] stays, it names nothing", "[] stays, it names nothing"),
    (" [INFO] only at the very start", "[INFO] only at the very start"),
    ("[open without end", "[open without end"),
    ("a [b] c", "a [b] c"),
    ("", ""),
])
def test_cleaning(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@pytest.mark.parametrize(("raw", "cleaned", "column"), [
    ("  | Traceback", "Traceback", 4),
    ("  + Exception Group", "Exception Group", 4),
    ("    |   File", "File", 8),
    ("  +-+---- 1 ----", "-+---- 1 ----", 3),
    ("| + | x  ", "x", 6),
    ("[err]   File", "File", 8),
    ("x | y", "x | y", 0),
])
def test_python_cleaning_drops_group_margins(raw: str, cleaned: str, column: int) -> None:
    assert clean_python(raw) == (cleaned, column)


def test_messages_have_single_blanks() -> None:
    assert fold("  a \t b\u00a0\u2003c ") == "a b c"


@pytest.mark.parametrize("text", ["a\nb\r\nc\rd\x0be\x0cf\x85g\u2028h\u2029i\x1cj\x1dk\x1el", "\n\n", "", "\na"])
def test_lines_are_cut_as_python_cuts_them(text: str) -> None:
    assert list(lines_of(text)) == [line for line in text.splitlines() if line]


def test_a_line_is_looked_at_up_to_its_cap() -> None:
    assert [len(line) for line in lines_of("x" * (MAX_LINE + 5) + "\ny")] == [MAX_LINE, 1]
