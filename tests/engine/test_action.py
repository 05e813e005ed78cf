"""The GitHub Action without GitHub: its script part, run as the workflow would run it, on the real engine."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cli import runner

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "docs" / "samples" / "ledger"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("recorded")
    shutil.copytree(SAMPLE, place / "ledger")
    for name in ("report.json", "bug.repro"):
        done = runner("record", "--payload", place / "ledger", "--command", "python3 check.py", "--runs", 1,
                      "-o", place / name, "--quiet")
        assert done.code == 0, done.err
    return place


@pytest.fixture
def job(recorded, tmp_path):
    """A checkout with the report in it, and what GitHub gives a step."""
    shutil.copytree(recorded, tmp_path / "workspace")
    (tmp_path / "temp").mkdir()
    return tmp_path


def act(job, **inputs):
    """Run the script; returns its exit code, its outputs, the summary, and what it printed."""
    env = {**os.environ, "GITHUB_WORKSPACE": str(job / "workspace"), "RUNNER_TEMP": str(job / "temp"),
           "RUNNER_OS": "Linux", "GITHUB_OUTPUT": str(job / "output"), "GITHUB_STEP_SUMMARY": str(job / "summary"),
           **{f"ACTION_{name.upper()}": value for name, value in inputs.items()}}
    done = subprocess.run([sys.executable, ROOT / "tools" / "action.py"], env=env, cwd=job / "workspace",
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stderr, done.stderr
    outputs = dict(line.split("=", 1) for line in (job / "output").read_text().splitlines())
    summary = (job / "summary").read_text() if (job / "summary").exists() else ""
    return done.returncode, outputs, summary, done.stdout + done.stderr


def test_a_reproduced_report_passes_and_leaves_what_ci_shows(job):
    code, outputs, summary, _ = act(job, report="report.json", payload="ledger", runs="2")
    assert (code, outputs["verdict"], outputs["exit-code"]) == (0, "reproduced", "0")
    evidence = Path(outputs["run-directory"])
    assert {"result.json", "report.html", "summary.md"} <= set(os.listdir(evidence))
    assert sorted(os.listdir(outputs["export-directory"])) == ["junit.xml", "report.html", "runner.sarif"]
    assert "REPRODUCED" in summary
    assert summary.strip() in (evidence / "summary.md").read_text()
    assert sorted(os.listdir(job / "workspace")) == ["bug.repro", "ledger", "report.json"]


def test_a_bundle_needs_no_payload(job):
    code, outputs, _, _ = act(job, report="bug.repro")
    assert (code, outputs["verdict"]) == (0, "reproduced")


def test_another_verdict_than_expected_fails_the_step(job):
    code, outputs, _, _ = act(job, report="bug.repro", expect="not_reproduced")
    assert (code, outputs["verdict"]) == (1, "reproduced")


def test_a_payload_that_is_another_one_is_judged_by_nobody(job):
    (job / "workspace" / "ledger" / "new").write_text("x")
    code, outputs, _, said = act(job, report="report.json", payload="ledger")
    assert (code, outputs["verdict"], outputs["run-directory"]) == (2, "nothing_judged", "")
    assert "not the recorded payload" in said


@pytest.mark.parametrize(("inputs", "word"), [
    ({"report": "../outside.json"}, "leads out"), ({"report": "/etc/passwd"}, "leads out"), ({}, "report"),
    ({"report": "link.json"}, "leads out"), ({"report": "bug.repro", "expect": "yes"}, "expect"),
    ({"report": "bug.repro", "runs": "1; id"}, "runs"), ({"report": "bug.repro", "policy": "../p.yaml"}, "policy"),
    ({"report": "a\nverdict=reproduced"}, "report")])
def test_an_input_that_is_not_usable_is_one_line(job, inputs, word):
    (job / "workspace" / "link.json").symlink_to("/etc/hostname")
    code, outputs, _, said = act(job, **inputs)
    assert (code, outputs["verdict"]) == (2, "nothing_judged")
    assert said.startswith("runner action: ")
    assert word in said
    assert len(said.splitlines()) == 1


def test_a_name_with_shell_in_it_is_only_a_name(job):
    name = "$(touch owned); `touch owned`.repro"
    shutil.copy(job / "workspace" / "bug.repro", job / "workspace" / name)
    code, outputs, _, _ = act(job, report=name)
    assert (code, outputs["verdict"]) == (0, "reproduced")
    assert not (job / "workspace" / "owned").exists()


def test_no_input_is_ever_part_of_a_script():
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(scripts) == 2
    assert not any("${{" in script for script in scripts)


def test_inputs_and_outputs_are_those_of_the_script():
    steps = {step.get("id"): step for step in ACTION["runs"]["steps"]}
    passed = {re.search(r"inputs\.([a-z-]+)", value)[1] for value in steps["replay"]["env"].values()}
    assert passed | {"artifact-name"} == set(ACTION["inputs"])
    assert set(ACTION["outputs"]) == {"verdict", "run-directory", "export-directory", "exit-code"}
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.replay.outputs.{name} }}}}"
