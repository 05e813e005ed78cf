"""Released packages that failed in public: each gets its labelled verdict, cause and exit code, in Docker."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cases import SIDES, Case, load_cases
from cli import Ran, runner
from fresh_reports import command_image, write_fresh
from replays import replay_json

from runner.case import RequestedLimits
from runner.oracles.contract import Contract, ProcessSignature, Signature
from runner.sandbox.sizes import parse_size
from runner.sources.load import load_case
from runner.workloads.command import CommandWorkload

pytestmark = pytest.mark.engine

CASES = {case.name: case for case in load_cases()}
SURE_RUNS = 20
"""Runs after which a failure that comes in half of all runs has shown both its faces, but for one in 2^19."""

EXIT_CODES = {"reproduced": 0, "not_reproduced": 1}
OUTCOMES = {"timed_out": "timed_out", "oom_killed": "resource_exhausted"}
FORMS = ("argv", "shell")
REPLAYS = [(name, side, "argv") for name in CASES for side in SIDES] + [(name, "buggy", "shell") for name in CASES]

image = pytest.fixture(scope="module")(command_image)


@pytest.fixture(scope="module")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Payloads by case and side, each made once."""
    root = tmp_path_factory.mktemp("payloads")
    return cache(lambda name, side: CASES[name].payload(side, root / name / side))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory, payloads: Any) -> Any:
    """``runner record`` of the buggy side, by case and form, each run once: the answer and the report's path."""
    root = tmp_path_factory.mktemp("reports")

    @cache
    def recorded(name: str, form: str) -> tuple[Ran, Path]:
        place = root / f"{name}-{form}"
        place.mkdir()
        return record(CASES[name], form, payloads(name, "buggy"), place), place / "report.json"

    return recorded


def record(case: Case, form: str, payload: Path, place: Path) -> Ran:
    facts = case.facts
    options = ["--timeout", str(facts["timeout_seconds"]), "--runs", str(runs_of(case, 2))]
    options += ["--argv"] if form == "argv" else []
    options += ["--match", facts["match"]] if facts["match"] else []
    options += ["--exit-code", str(facts["exit_code"])] if facts["exit_code"] is not None else []
    options += ["--signature", facts["signature"] or "none"]
    options += ["--memory", facts["memory"]] if facts["memory"] else []
    return runner("record", "--payload", payload, "--command", command_text(case, form), "--quiet",
                  "-o", place / "report.json", *options, cwd=place)


def runs_of(case: Case, usual: int) -> int:
    return SURE_RUNS if case.facts["runs"] > 1 else usual


def command_text(case: Case, form: str) -> str:
    """As shell text it is what people type: ``NAME=VALUE program …``, without ``env``."""
    command = str(case.facts["command"])
    return command if form == "argv" else command.removeprefix("env ")


def workload_of(case: Case, form: str) -> CommandWorkload:
    text = command_text(case, form)
    return CommandWorkload(argv=tuple(shlex.split(text))) if form == "argv" else CommandWorkload(shell=text)


def signature_of(case: Case, form: str, recordings: Any) -> Signature | None:
    """The labels name no frames, so a Python signature is the one that was learned on the buggy side."""
    detail = case.facts["signature_detail"]
    if case.facts["signature"] == "process":
        return ProcessSignature(detail["kind"], detail["code"])
    if case.facts["signature"] is None:
        return None
    signature = load_case(recordings(case.name, form)[1]).contract.signature
    assert signature is not None
    assert (signature.class_name, signature.message) == (detail["class"], detail["message"])  # type: ignore[union-attr]
    return signature


@pytest.mark.parametrize(("name", "side", "form"), REPLAYS)
def test_a_case_gets_its_labelled_verdict(name: str, side: str, form: str, tmp_path: Path, image: Any,
                                          payloads: Any, recordings: Any) -> None:
    case = CASES[name]
    facts, payload = case.facts, payloads(name, side)
    contract = Contract(facts["exit_code"], facts["match"], signature_of(case, form, recordings))
    limits = RequestedLimits(memory=parse_size(facts["memory"]) if facts["memory"] else None)
    report = write_fresh(tmp_path / "report.json", payload, image, workload_of(case, form), contract,
                         timeout=float(facts["timeout_seconds"]), limits=limits)
    runs = runs_of(case, 1)
    answer = replay_json(report, payload, "--runs", str(runs), "--jobs", str(min(runs, 2)), cwd=tmp_path)
    assert answer.code == EXIT_CODES[facts["expected"][side]], answer
    assert answer.json["verdict"] == facts["expected"][side], answer
    assert len(answer.json["samples"]) == runs
    for sample in answer.json["samples"]:
        check_sample(case, side, sample)


def check_sample(case: Case, side: str, sample: dict[str, Any]) -> None:
    cause, observed = case.facts["expected_cause"][side], case.facts["observed"][side]
    assert sample["cause"] == cause, sample
    assert sample["timed_out"] is (cause == "timed_out")
    assert sample["resource_exhausted"] is (cause == "oom_killed")
    assert sample["child_oom"] is False
    if cause == "timed_out":
        assert (sample["outcome"], sample["returncode"]) == ("timed_out", 124)
    elif case.facts["runs"] == 1:
        assert sample["returncode"] == observed["exit_code"], sample
        assert sample["outcome"] == OUTCOMES.get(cause, "passed" if sample["accepted"] else "failed")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_recording_the_buggy_side_is_accepted_or_refused_as_labelled(name: str, form: str, tmp_path: Path,
                                                                     payloads: Any, recordings: Any) -> None:
    answer, report = recordings(name, form)
    if CASES[name].facts["record_on_buggy"] == "refuse":
        assert answer.code == 3, answer
        assert answer.err.startswith("runner: "), answer
        assert not report.exists()
        return
    assert answer.code == 0, answer
    assert json.loads(report.read_text())["schema"] == "runner.report/1"
    again = replay_json(report, payloads(name, "buggy"), cwd=tmp_path)
    assert (again.code, again.json["fingerprint_mode"]) == (0, "exact"), again


def test_a_flaky_failure_is_refused_with_the_runs_that_differ(recordings: Any) -> None:
    answer, _ = recordings("flaky-hashseed-jinja2", "argv")
    assert "flaky" in answer.err
    assert "exit code 0" in answer.err
    assert "exit code 1" in answer.err


@pytest.mark.parametrize(("name", "word"), [("hang-sqlparse-redos", "timed_out"),
                                            ("oom-pypdf-flate-bomb", "oom_killed")])
def test_a_run_that_was_ended_for_it_is_refused_with_the_reason(name: str, word: str, recordings: Any) -> None:
    answer, _ = recordings(name, "argv")
    assert word.replace("_", " ") in answer.err.replace("_", " "), answer
