"""``runner report diff`` of stored runs: everything that differs is there, and nothing else."""

import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from stored_runs import FACTS, FAILS, IMAGE, PASSES, make_evidence

from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.evidence.check import open_evidence
from runner.evidence.observation import Artifact
from runner.payload.fingerprint import Change
from runner.reports.diff.output import MOST_SHOWN
from runner.reports.diff.runs import MOST_LISTED, diff_runs
from runner.reports.diff.text import diff_json, diff_markdown, diff_text
from runner.sandbox.backends.fake import FakeBackend

HOSTILE = b"```\n\x1b]0;title\x07<script>\xe2\x80\xae\n# head\n+fake\n"


@pytest.fixture
def made(tmp_path):
    """Evidence of scripted runs, all of the same payload and report."""
    numbers = iter(range(100))

    def make(*script, **options):
        return make_evidence(tmp_path / f"n{next(numbers)}" / "ledger-case", script, **options)

    return make


@pytest.fixture
def again(made, tmp_path):
    def make(evidence, *script, **options):
        """Another replay of the same report and payload."""
        place = evidence.directory.parent
        request = ReplayRequest(report=str(place / "report.json"), payload=str(place / "ledger"),
                                runs=len(script), **options)
        out = place / f"run-{len(list(place.iterdir()))}"
        return open_evidence(replay(settle(request), out=out, backend=FakeBackend(
            script, facts=FACTS, image=IMAGE)).directory)

    return make


def keys(rows):
    return [row["key"] for row in rows]


def test_a_run_and_itself(made):
    evidence = made(FAILS, PASSES)
    diff = diff_runs(evidence, evidence)
    assert (diff["same"], diff["different"]) == (True, [])
    assert not any(diff["sections"].values())
    assert diff["output"] == {"runs": [], "more": 0, "unpaired": 0}
    assert diff_text(diff).splitlines()[0] == "SAME: time and memory aside, the runs are alike"


def test_time_and_memory_are_no_difference(made, again):
    first = made(FAILS, FAILS, replace(FAILS, wall_seconds=2.0))
    second = again(first, *[replace(FAILS, wall_seconds=0.5, cpu_seconds=None, peak_memory=2 << 20)] * 3)
    diff = diff_runs(first, second)
    assert diff["same"]
    wall, cpu, memory = diff["timing"]
    assert wall == {"metric": "wall_seconds", "a": {"n": 3, "median": 0.25, "least": 0.25, "most": 2.0},
                    "b": {"n": 3, "median": 0.5, "least": 0.5, "most": 0.5}}
    assert cpu["b"] == {"n": 0, "median": None, "least": None, "most": None}
    assert memory["b"]["median"] == 2 << 20
    assert "peak_memory: 12 MiB (12 to 12, n 3) in a, 2 MiB (2 to 2, n 3) in b" in diff_text(diff)
    assert "cpu_seconds: 0.07 s (0.07 to 0.07, n 3) in a, not known in b" in diff_text(diff)


def test_another_verdict_and_why(made, again):
    first = made(FAILS, FAILS)
    diff = diff_runs(first, again(first, FAILS, PASSES))
    assert not diff["same"]
    assert set(diff["different"]) == {"verdict", "runs", "outcomes", "output"}
    rows = {row["key"]: (row["a"], row["b"]) for row in diff["sections"]["verdict"]}
    assert rows["verdict"] == ("reproduced", "not_reproduced")
    assert rows["exit_code"] == (0, 1)
    rows = {row["key"]: (row["a"], row["b"]) for row in diff["sections"]["runs"]}
    assert rows["passes"] == (2, 1)
    assert diff["sections"]["outcomes"] == [
        {"key": "failed: exited, code 0, exit_code does not fit", "a": 0, "b": 1},
        {"key": "passed: exited, code 1", "a": 2, "b": 1}]
    text = diff_text(diff)
    assert "  - verdict: reproduced\n  + verdict: not_reproduced" in text
    assert "DIFFERENT: verdict" in text


def test_policy_key_by_key(made, again):
    first = made(FAILS)
    diff = diff_runs(first, again(first, FAILS, policy="strict"))
    found = keys(diff["sections"]["policy"])
    assert {"name", "sha256", "effective.memory", "effective.work.size", "effective.timeout"} <= set(found)
    assert "effective.network" not in found
    assert keys(diff["sections"]["drift"]) == ["policy"]
    assert "timeout" not in keys(diff["sections"]["contract"])
    assert "  - effective.memory: 1GiB\n  + effective.memory: 512MiB\n" in diff_text(diff)
    assert "effective.name" not in found


def test_another_report_another_contract(made):
    diff = diff_runs(made(FAILS), made(FAILS, command="python3 other.py"))
    assert keys(diff["sections"]["contract"]) == ["command"]
    assert "report_sha256" in keys(diff["sections"]["report"])


def test_another_payload(made):
    diff = diff_runs(made(FAILS), made(FAILS, payload={"check.py": b"x"}))
    assert {"payload_fingerprint.content", "payload_fingerprint.files"} <= set(keys(diff["sections"]["payload"]))


def test_changes_that_only_one_has(made, again):
    first = made(replace(FAILS, changes=(Change("added", b"a\x1b", "file"), Change("mode", b"both", "0644 to 0755"))))
    second = again(first, replace(FAILS, artifacts=(Artifact(b"out.log", b"other\n"),),
                                  changes=(Change("mode", b"both", "0644 to 0755"), Change("removed", b"c", ""))))
    diff = diff_runs(first, second)
    assert diff["changes"] == {"a": ["added a\\x1b (file)"], "a_more": 0, "b": ["removed c"], "b_more": 0}
    assert [side[0].split()[0] for side in (diff["artifacts"]["a"], diff["artifacts"]["b"])] == ["out.log", "out.log"]
    assert "  -added a\\x1b (file)\n  +removed c" in diff_text(diff)


def test_long_lists_are_cut_and_counted(made, again):
    first = made(FAILS)
    many = tuple(Change("added", b"%04d" % number, "") for number in range(MOST_LISTED + 5))
    changes = diff_runs(first, again(first, replace(FAILS, changes=many)))["changes"]
    assert (len(changes["b"]), changes["b_more"]) == (MOST_LISTED, 5)


def test_output_of_corresponding_runs(made, again):
    first = made(FAILS, FAILS, FAILS)
    second = again(first, FAILS, replace(FAILS, stdout=b"reading the ledger\nagain\n"), FAILS)
    output = diff_runs(first, second)["output"]
    entry, = output["runs"]
    assert (entry["run"], entry["stream"], entry["a_bytes"], entry["b_bytes"], entry["complete"]) == (
        2, "stdout", 19, 25, True)
    assert entry["hunks"] == [{"a_line": 1, "b_line": 1, "lines": [" reading the ledger", "+again"]}]


def test_the_same_pair_is_shown_once_and_few_are_at_all(made, again):
    first = made(*[FAILS] * 20)
    alike = diff_runs(first, again(first, *[replace(FAILS, stdout=b"x")] * 20))["output"]
    assert (len(alike["runs"]), alike["more"]) == (1, 19)
    each = diff_runs(first, again(first, *[replace(FAILS, stdout=b"%d" % number) for number in range(20)]))["output"]
    assert (len(each["runs"]), each["more"]) == (MOST_SHOWN, 20 - MOST_SHOWN)


def test_runs_that_only_one_has_are_counted(made, again):
    first = made(FAILS)
    assert diff_runs(first, again(first, FAILS, FAILS, FAILS))["output"]["unpaired"] == 2


def test_hostile_output_does_nothing(made, again):
    first = made(FAILS)
    diff = diff_runs(first, again(first, replace(FAILS, stdout=HOSTILE, changes=(
        Change("added", b"a`b\n# x <img>", ""),))))
    text = diff_text(diff)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert diff_json(diff).isascii()
    assert json.loads(diff_json(diff)) == diff
    tokens = MarkdownIt("commonmark").parse(diff_markdown(diff))
    assert {token.type for token in tokens} <= {
        "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "fence",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}
    headings = [tokens[index + 1].content for index, token in enumerate(tokens) if token.type == "heading_open"]
    assert "head" not in headings
    inline = {child.type for token in tokens if token.type == "inline" for child in token.children}
    assert inline <= {"text", "code_inline"}


def test_more_runs_alone_are_no_other_verdict(made, again):
    first = made(FAILS)
    diff = diff_runs(first, again(first, FAILS, FAILS))
    assert set(diff["different"]) == {"runs", "outcomes"}
