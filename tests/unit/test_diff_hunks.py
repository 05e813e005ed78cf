"""Output hunks: what they show, and that no output makes them slow."""

import random
from collections import Counter

import pytest

from runner.reports.diff import hunks
from runner.reports.diff.hunks import CONTEXT, LINE_BYTES, MOST_HUNKS, WINDOW_LINES, find_hunks

LARGE = 16 << 20


def numbered(count, **changed):
    return "".join(f"{changed.get(f'l{number}', number)}\n" for number in range(1, count + 1)).encode()


def test_a_change_with_what_is_around_it():
    hunk, = find_hunks(numbered(9), numbered(9, l5="five")).hunks
    assert hunk.lines[:6] == (" 3", " 4", "-5", "+five", " 6", " 7")
    assert (hunk.a_line, hunk.b_line) == (3, 3)


def test_changes_that_lie_apart_are_hunks_of_their_own():
    found = find_hunks(numbered(100_000), numbered(100_000, l7="x", l5000="y", l99999="z"))
    assert [[line for line in hunk.lines if line[0] != " "] for hunk in found.hunks] == [
        ["-7", "+x"], ["-5000", "+y"], ["-99999", "+z"]]
    assert found.complete


def test_after_an_insertion_both_are_aligned_again():
    found = find_hunks(numbered(5000), numbered(5000, l10="10\nnew\nmore", l4000="y"))
    assert [(hunk.a_line - hunk.b_line) for hunk in found.hunks] == [0, -2]
    assert [line for hunk in found.hunks for line in hunk.lines if line[0] != " "] == ["+new", "+more", "-4000", "+y"]


def test_the_end_of_a_window_is_no_difference():
    """Without a long run of equal lines a hunk fills its window, whose last lines have their like beyond it."""
    every_third = {f"l{number}": f"x{number}" for number in range(3, 500, 3)}
    found = find_hunks(numbered(500), b"new\n" + numbered(500, **every_third))
    signs = Counter(line[0] for hunk in found.hunks for line in hunk.lines)
    assert (signs["-"], signs["+"], found.complete) == (len(every_third), len(every_third) + 1, True)


def test_a_missing_newline_is_seen():
    hunk, = find_hunks(b"same\nend\n", b"same\nend").hunks
    assert hunk.lines == (" same", "-end", "+end …")


def test_a_difference_in_a_very_long_line_is_shown_where_it_is():
    hunk, = find_hunks(b"x" * 100_000 + b"A" + b"y" * 50, b"x" * 100_000 + b"B" + b"y" * 50).hunks
    assert any("A" in line for line in hunk.lines)
    assert any("B" in line for line in hunk.lines)
    assert max(map(len, hunk.lines)) <= LINE_BYTES + 3


def test_control_sequences_and_bad_utf8_are_shown_as_escapes():
    hunk, = find_hunks(b"\x1b[2J\xff\r\n", "\u202e\x9b\n".encode()).hunks
    assert hunk.lines == ("-\\x1b[2J\\xff\\r", "+\\u202e\\x9b")


def test_more_differences_than_are_shown_are_told():
    many = {f"l{number}": "x" for number in range(10, 2000, 100)}
    found = find_hunks(numbered(2000), numbered(2000, **many))
    assert (len(found.hunks), found.complete) == (MOST_HUNKS, False)


def noise(seed):
    chooser = random.Random(seed)
    return b"".join(chooser.choices([b"a\n", b"b\n"], k=LARGE // 2))


@pytest.mark.parametrize(("a", "b"), [
    (lambda: b"x" * LARGE, lambda: b"x" * (LARGE - 1) + b"y"), (lambda: b"x" * LARGE, lambda: b"y" * LARGE),
    (lambda: b"\n" * LARGE, lambda: b"x\n" * (LARGE // 2)),
    (lambda: b"ab" * (LARGE // 2), lambda: b"ba" * (LARGE // 2)),
    (lambda: b"a\n" * (LARGE // 2), lambda: b"a\na\nb\n" * (LARGE // 6)), (lambda: noise(1), lambda: noise(2)),
    (lambda: b"", lambda: b"\n" * LARGE)],
    ids=["one line, end", "one line", "blank lines", "shifted", "repeating", "noise", "nothing"])
def test_work_is_bounded_whatever_the_output(monkeypatch, a, b):
    """Lines that are aligned are counted: 16 MiB of the worst cost no more than a few small windows."""
    counted = Counter()
    real = hunks.SequenceMatcher

    def counting(junk, ours, theirs, *, autojunk):
        counted["windows"] += 1
        counted["most"] = max(counted["most"], len(ours), len(theirs))
        counted["bytes"] += sum(map(len, ours)) + sum(map(len, theirs))
        return real(junk, ours, theirs, autojunk=autojunk)

    monkeypatch.setattr(hunks, "SequenceMatcher", counting)
    found = find_hunks(a(), b())
    assert found.hunks
    assert counted["windows"] <= MOST_HUNKS
    assert counted["most"] <= WINDOW_LINES
    assert counted["bytes"] <= 2 * MOST_HUNKS * WINDOW_LINES * LINE_BYTES
    assert sum(len(hunk.lines) for hunk in found.hunks) <= MOST_HUNKS * (2 * WINDOW_LINES + CONTEXT)
