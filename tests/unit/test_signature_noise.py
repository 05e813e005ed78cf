"""A long log before an exception changes nothing but the place where reading starts."""

from __future__ import annotations

import re

import pytest
from observations import TRACEBACKS

from runner.oracles.signature.java import java_blocks
from runner.oracles.signature.lines import from_first
from runner.oracles.signature.python import python_blocks
from runner.oracles.signature.reading import Reading

LOG = "12:00 INFO starting\n[worker 3] at work (as ever)\n  | row 7: fine\n\u2028\x85 E-mail sent\n"
DRESSES = {"plain": "{}", "bracketed": "[build] [2] {}", "in a margin": "  | {}", "coloured": "\x1b[31m{}\x1b[0m"}


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
@pytest.mark.parametrize("name", sorted(path.stem for path in TRACEBACKS.glob("*.txt")))
def test_a_log_before_an_exception_changes_nothing(name: str, dress: str, reading: Reading) -> None:
    plain = (TRACEBACKS / f"{name}.txt").read_text(encoding="utf-8")
    text = "\n".join(dress.format(line) for line in plain.splitlines())
    for blocks in (lambda text: python_blocks(text, reading, "/workspace"), lambda text: java_blocks(text, reading)):
        assert blocks(LOG * 3 + text) == blocks(text)
        assert dress.startswith("  ") or blocks(text) == blocks(plain)


def test_reading_starts_at_the_line_of_the_first_clue() -> None:
    clue = re.compile("Error")
    assert from_first("one\ntwo Error\nthree Error\n", clue) == "two Error\nthree Error\n"
    assert from_first("Error", clue) == "Error"
    assert from_first("nothing\n", clue) == ""
