"""The documentation says what the program does: examples run, links lead somewhere, nothing is left out."""

from __future__ import annotations

import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest
from docs_pages import DOCS, PAGES, ROOT, SCRIPT, TOP, anchors, examples, links, section

from runner import errors
from runner.browser.faults import ApiFaultType, StateFaultType
from runner.browser.outcome import SignalKind
from runner.cli.chaos import PERSONAS
from runner.cli.chaos import command as chaos
from runner.cli.verify import command as verify
from runner.evidence import load_record, result, session_record
from runner.incidents.noise import RULES
from runner.payload.rules import MESSAGES
from runner.sandbox.exit import Cause

GUIDE, EVIDENCE = DOCS / "command-replay.md", DOCS / "evidence-format.md"
FAILURES = DOCS / "failure-modes.md"
BROWSER, LOADS = DOCS / "browser-chaos.md", DOCS / "load-scenarios.md"
RECORDS = (result.Result, result.Sample, result.StreamRecord, result.FingerprintRecord, result.ImageRecord,
           result.PolicyRecord, result.Drift, result.ChangeRecord, result.ArtifactRecord, result.MatchRecord,
           result.ContractRecord, result.EventsRecord, session_record.SessionRecord, session_record.SessionRun,
           session_record.SeenFailure, session_record.StepTaken, session_record.NoiseRecord,
           session_record.LaneRecord, session_record.FailureVerdict, session_record.BrowserRecord,
           session_record.TargetRecord, session_record.FileRecord, load_record.LoadRecord,
           load_record.AssertionRecord, load_record.PhaseRecord)
VOLATILE = (
    (r"sha256:[0-9a-f]{64}", "<id>"),
    (r"\b[0-9a-f]{64}\b", "<digest>"),
    (r"\brun_\d{8}_\d{6}_[0-9a-f]{8}\b", "<run>"),
    (r"\b[0-9a-f]{12}\b", "<short>"),
    (r"(?<![\w.])/[^\s()]*?/(\.runner|docs/samples|evidence)\b", r"<place>/\1"),
    (r"[ \t]+$", ""),
)
PATIENCE_SECONDS = 120


def settled(text: str) -> str:
    """Text without what differs from run to run and from machine to machine."""
    for pattern, stands_for in VOLATILE:
        text = re.sub(pattern, stands_for, text, flags=re.MULTILINE)
    return text.strip()


def fits(shown: str, printed: str) -> bool:
    """Whether the program printed what a page shows; an ellipsis in the page stands for any text."""
    wanted = ".*".join(re.escape(part) for part in settled(shown).split("…"))
    return re.fullmatch(wanted, settled(printed), re.DOTALL) is not None


def run(command: str, exit_code: int, place: Path) -> tuple[int, str]:
    """Run a line as a shell would after a command that ended with ``exit_code``."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNNER_")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "RUNNER_QUIET": "1"}
    done = subprocess.run(["/bin/sh", "-c", f"(exit {exit_code}); {command}"], cwd=place, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="surrogateescape", timeout=PATIENCE_SECONDS, check=False)
    return done.returncode, done.stdout


def copy_samples(place: Path) -> None:
    """With the modes that a checkout has under the usual umask."""
    shutil.copytree(DOCS / "samples", place)
    for path in place.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_an_example_starts_with_a_runner_command(page: Path) -> None:
    """What must not be run is fenced as text, so that no example goes unrun by mistake."""
    for steps in examples(page):
        assert steps[0].command.startswith(("runner ", SCRIPT)), steps[0]
        assert not any(" # " in step.command for step in steps), steps


@pytest.mark.engine
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_examples_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    """All examples of a page run in order in one place that holds the samples."""
    copy_samples(tmp_path / "docs" / "samples")
    for steps in examples(page):
        exit_code = 0
        for step in steps:
            exit_code, printed = run(step.command, exit_code, tmp_path)
            told = f"$ {step.command}\n{settled(printed)}\n--- the page has:\n{settled(step.shown)}"
            assert fits(step.shown, printed), told


@pytest.mark.parametrize("page", [*TOP, *sorted(DOCS.rglob("*.md"))],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_every_page_can_be_found(page: Path) -> None:
    index = DOCS / "README.md"
    assert page == index or page.name in links(index)


@pytest.mark.parametrize("name", ["record", "replay"])
def test_every_option_is_described(name: str) -> None:
    command = importlib.import_module(f"runner.cli.{name}").command
    assert isinstance(command, click.Command)
    described = section(GUIDE, f"### Options of `runner {name}`")
    options = {max(each.opts, key=len) for each in command.params if isinstance(each, click.Option)}
    assert {option for option in options if not re.search(rf"`{option}[ `]", described)} == set()


@pytest.mark.parametrize(("command", "page"), [(chaos, BROWSER), (verify, LOADS)], ids=["chaos", "verify"])
def test_every_option_of_a_command_with_a_page_of_its_own_is_described(command: click.Command, page: Path) -> None:
    described = page.read_text(encoding="utf-8")
    options = {max(each.opts, key=len) for each in command.params if isinstance(each, click.Option)}
    assert {option for option in options if not re.search(rf"`{option}[ `]", described)} == set()


def test_every_persona_noise_rule_and_fault_is_described() -> None:
    described = BROWSER.read_text(encoding="utf-8")
    words = {*PERSONAS, *(rule.name for rule in RULES), *get_args(ApiFaultType), *get_args(StateFaultType),
             *get_args(SignalKind)}
    assert {word for word in words if f"`{word}`" not in described} == {"unhandled_rejection"}


def test_every_error_is_described() -> None:
    rows = {kind.code: int(kind.exit_code) for kind in vars(errors).values()
            if isinstance(kind, type) and issubclass(kind, errors.RunnerError)}
    described = section(FAILURES, "## Error codes")
    assert [code for code, exit_code in rows.items() if f"| `{code}` | {exit_code} |" not in described] == []


def test_every_cause_and_rule_is_described() -> None:
    causes = section(FAILURES, "## Causes")
    assert [cause.value for cause in Cause if f"| `{cause}` |" not in causes] == []
    rules = section(FAILURES, "## What sealing refuses")
    assert [rule for rule in MESSAGES if f"`{rule}`" not in rules] == []


def test_every_field_of_the_evidence_is_described() -> None:
    described = EVIDENCE.read_text(encoding="utf-8")
    fields = {field.alias or name for record in RECORDS for name, field in record.model_fields.items()}
    assert {field for field in fields if f"`{field}`" not in described} == set()


def test_the_layers_are_those_of_the_house_rules() -> None:
    page = section(DOCS / "architecture.md", "## Import layers")
    drawn = re.findall(r"^ (\d)  (\S.*)$", page, re.MULTILINE)
    layers = runpy.run_path(str(ROOT / "tools" / "house_rules.py"))["LAYERS"]
    assert {int(number): tuple(names.split()) for number, names in drawn} == dict(enumerate(layers))
