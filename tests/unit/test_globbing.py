"""Patterns of declared artifacts."""

import pytest

from runner.payload.globbing import matches


@pytest.mark.parametrize(("pattern", "path", "expected"), [
    (b"a.txt", b"a.txt", True), (b"a.txt", b"b/a.txt", False), (b"./a.txt", b"a.txt", True),
    (b"*.txt", b"a.txt", True), (b"*.txt", b"d/a.txt", False), (b"*", b"", True), (b"?", b"ab", False),
    (b"d/*/x", b"d/e/x", True), (b"d/*/x", b"d/e/f/x", False), (b"d/**/x", b"d/e/f/x", True), (b"d/**/x", b"d/x", True),
    (b"**", b"a/b/c", True), (b"**/x", b"x", True), (b"d/**", b"d", True), (b"d/**", b"e/x", False),
    (b"**/reports/*.xml", b"m/target/reports/T.xml", True), (b"a*b*c", b"aXbYbZc", True), (b"a*b*c", b"aXbYbZ", False),
    (b"[ab]", b"a", False), (b"[ab]", b"[ab]", True), (b"*\xff?", b"x\xff\n", True), (b"/etc/*", b"etc/x", False)])
def test_patterns(pattern, path, expected):
    assert matches(pattern, path) is expected


def test_a_spiteful_pattern_costs_no_more_than_its_length():
    assert not matches(b"*a" * 100 + b"b", b"a" * 250)
    assert not matches(b"**/a/" * 200 + b"b", b"a/" * 500 + b"c")
