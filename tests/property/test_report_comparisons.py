"""What holds of any two reports and any two outputs."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runner.reports.compare.rows import CATEGORICAL, NUMERIC, compare, delta
from runner.reports.diff.hunks import LINE_BYTES, MOST_HUNKS, find_hunks
from runner.sources.load import load_report

DATA = Path(__file__).parents[1] / "data"
REPORTS = [load_report(path) for path in (*sorted(DATA.glob("repomin/*/*.repomin/report.json")),
                                          *sorted(DATA.glob("native/*.json")))]
COUNT = st.integers(0, 1 << 70)
ROWS = st.fixed_dictionaries({
    "index": st.integers(1, 32), "label": st.just("x"),
    **{name: st.none() | st.floats(0, 10).map(lambda value: round(value, 6)) if name.endswith("ratio") else COUNT
       for name in NUMERIC}, **{name: st.sampled_from(["a", "b", None]) for name in CATEGORICAL}})
LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\x1b[0m\n", b"long" * 90 + b"\n"]), max_size=60)
CUT = " …"


@given(ROWS, ROWS)
def test_deltas_are_antisymmetric(left, right):
    there, back = delta(left, right), delta(right, left)
    assert there["changed_fields"] == back["changed_fields"]
    for name in NUMERIC:
        one, other = there["numeric_deltas"][name], back["numeric_deltas"][name]
        assert (one is None) == (other is None)
        assert one is None or one == -other


@given(st.lists(st.sampled_from(REPORTS), min_size=2, max_size=5))
def test_an_order_changes_signs_and_nothing_else(reports):
    forth = compare(reports, [f"r{number}" for number in range(len(reports))])
    back = compare(reports[::-1], [f"r{number}" for number in reversed(range(len(reports)))])
    assert forth["context_warnings"] == back["context_warnings"]
    assert [each["changed_fields"] for each in forth["deltas"]] == [
        each["changed_fields"] for each in reversed(back["deltas"])]


@given(LINES, LINES)
def test_hunks_are_a_patch(ours, theirs):
    """Applied to the first output they give the second, wherever they claim to be complete."""
    a, b = b"".join(ours), b"".join(theirs)
    found = find_hunks(a, b)
    assert found.complete or len(found.hunks) == MOST_HUNKS
    if found.complete:
        assert patched(shown(a), found.hunks) == shown(b)
    assert (a == b) == (found.hunks == ())


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_hunks_of_any_bytes_are_safe_and_end(a, b):
    found = find_hunks(a, b)
    assert (a == b) == (found.hunks == ())
    for hunk in found.hunks:
        assert all(line[0] in " -+" and line.isprintable() for line in hunk.lines)
        assert all(len(line) <= 1 + 4 * LINE_BYTES + len(CUT) for line in hunk.lines)


@given(LINES)
def test_an_output_and_itself(lines):
    assert find_hunks(b"".join(lines), b"".join(lines)).hunks == ()


def shown(data):
    return ["".join(char if char.isprintable() else "\\x1b" for char in line) for line in data.decode().splitlines()]


def patched(lines, hunks):
    result, at = [], 0
    for hunk in hunks:
        result += lines[at:hunk.a_line - 1]
        at = hunk.a_line - 1
        assert len(result) == hunk.b_line - 1
        for line in hunk.lines:
            if line[0] in " -":
                assert lines[at] == line[1:]
                at += 1
            if line[0] in " +":
                result.append(line[1:])
    return result + lines[at:]
