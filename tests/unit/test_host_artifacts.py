from __future__ import annotations

import pytest

from runner.sandbox.backends.host.artifacts import matches


@pytest.mark.parametrize(("pattern", "path", "wanted"), [
    ("a.txt", b"a.txt", True), ("a.txt", b"b/a.txt", False), ("*.txt", b"a.txt", True), ("*.txt", b"b/a.txt", False),
    ("b/*", b"b/a.txt", True), ("b/*", b"b/c/a.txt", False), ("**", b"a/b/c", True), ("**/a", b"a", True),
    ("**/a", b"x/y/a", True), ("**/a", b"x/y/b", False), ("x/**/a", b"x/a", True), ("x/**/a", b"y/a", False),
    ("**/x/**/a", b"p/x/q/r/a", True), ("a?", b"ab", True), ("[ab]", b"b", True), ("*", b"\xff", True),
    ("**/surefire-reports/TEST-*.xml", b"m/target/surefire-reports/TEST-a.xml", True),
    ("**/surefire-reports/TEST-*.xml", b"m/target/surefire-reports/x/TEST-a.xml", False),
    ("", b"a", False),
])
def test_patterns(pattern: str, path: bytes, wanted: bool) -> None:
    assert matches(path, (pattern,)) is wanted


def test_any_pattern_will_do() -> None:
    assert matches(b"b", ("a", "b"))
    assert not matches(b"b", ())


def test_many_stars_cost_no_more_than_one() -> None:
    assert not matches(b"/".join([b"a"] * 500), ("/".join(["**", "a"] * 60) + "/b",))
