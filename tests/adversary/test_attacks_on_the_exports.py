"""Evidence that somebody changed is exported in no format: exit code 2, the part named, nothing written.

No program runs here: what is attacked is the run directory, after the replay.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from stored_runs import FAILS, PASSES, make_evidence

from runner.cli.main import cli
from runner.errors import EvidenceAltered
from runner.evidence.check import Evidence, open_evidence
from runner.reports.formats import FORMATS

NAMES = (*FORMATS,)


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_evidence(tmp_path_factory.mktemp("pristine"), (FAILS, PASSES))


@pytest.fixture
def directory(pristine: Evidence, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine.directory, tmp_path / "run"))


def edit(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Written as we would write it, so that only the content is wrong."""
    path = directory / "result.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, sort_keys=True, indent=2) + "\n")


def turned_verdict(directory: Path) -> None:
    edit(directory, lambda result: result.update(verdict="reproduced", ok=True, reproduced=True, exit_code=0))


def accepted_run(directory: Path) -> None:
    edit(directory, lambda result: result["samples"][1].update(accepted=True, outcome="passed"))


def other_report(directory: Path) -> None:
    edit(directory, lambda result: result.update(report_sha256="0" * 64))


def wider_policy(directory: Path) -> None:
    edit(directory, lambda result: result["policy"]["effective"].update(memory=1 << 40))


def spaced_result(directory: Path) -> None:
    path = directory / "result.json"
    path.write_text(path.read_text() + "\n")


def surrogate_in_result(directory: Path) -> None:
    """JSON can hold it, UTF-8 cannot."""
    edit(directory, lambda result: result.update(command="\ud800"))


def surrogate_in_policy(directory: Path) -> None:
    edit(directory, lambda result: result["policy"]["effective"].update({"\ud800": 1}))


def doubled_key(directory: Path) -> None:
    path = directory / "result.json"
    path.write_text(path.read_text().replace('{\n  "', '{\n  "verdict": "reproduced",\n  "', 1))


def huge_result(directory: Path) -> None:
    os.truncate(directory / "result.json", (1 << 30) + 1)  # sparse


def deep_result(directory: Path) -> None:
    (directory / "result.json").write_text("[" * 1_000_000)


def altered_output(directory: Path) -> None:
    path = directory / "stderr-1.bin"
    path.write_bytes(path.read_bytes().replace(b"42", b"43"))


def linked_output(directory: Path) -> None:
    """To the very same bytes: still not a file of the run."""
    shutil.move(directory / "stdout-1.bin", directory.parent / "elsewhere")
    (directory / "stdout-1.bin").symlink_to(directory.parent / "elsewhere")


def output_is_a_pipe(directory: Path) -> None:
    (directory / "stdout-1.bin").unlink()
    os.mkfifo(directory / "stdout-1.bin")


def lost_output(directory: Path) -> None:
    (directory / "stdout-2.bin").unlink()


def removed_event(directory: Path) -> None:
    path = directory / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))


def last_event_gone(directory: Path) -> None:
    path = directory / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def swapped_events(directory: Path) -> None:
    path = directory / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2], lines[3] = lines[3], lines[2]
    path.write_bytes(b"".join(lines))


def swapped_artifact(directory: Path) -> None:
    next((directory / "artifacts").iterdir()).write_bytes(b"LOG\n")


def edited_manifest(directory: Path) -> None:
    path = directory / "manifest.txt"
    path.write_bytes(path.read_bytes().replace(b"check.py", b"check.pz"))


ATTACKS = {
    turned_verdict: "result.json is not the result that the event log ends with",
    accepted_run: "result.json is not the result that the event log ends with",
    other_report: "result.json is not the result that the event log ends with",
    wider_policy: "result.json is not the result that the event log ends with",
    spaced_result: "result.json is not as it was written",
    surrogate_in_result: "result.json is not the result that the event log ends with",
    surrogate_in_policy: "result.json is not as it was written",
    doubled_key: "result.json is not as it was written",
    huge_result: "result.json is larger than",
    deep_result: "result.json is not JSON",
    altered_output: "stderr-1.bin is not what was kept",
    linked_output: "stdout-1.bin cannot be read",
    output_is_a_pipe: "stdout-1.bin is not a regular file",
    lost_output: "stdout-2.bin cannot be read",
    removed_event: "event 3",
    last_event_gone: "events.jsonl does not lead to the event that result.json names",
    swapped_events: "event 3",
    swapped_artifact: "is not what was kept",
    edited_manifest: "manifest.txt is not the manifest of the payload's fingerprint",
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_altered_evidence_is_exported_in_no_format(directory: Path, attack: Callable[[Path], None], name: str) -> None:
    attack(directory)
    target = directory.parent / "export"
    done = CliRunner().invoke(cli, ["export", str(directory), "--format", name, "-o", str(target)])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert ATTACKS[attack] in done.stderr
    assert not target.exists()


@pytest.mark.parametrize("name", NAMES)
def test_the_untouched_copy_is_exported(directory: Path, name: str) -> None:
    """So it was the attacks that were refused."""
    assert CliRunner().invoke(cli, ["export", str(directory), "--format", name]).exit_code == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"json", "in-toto"}])
def test_output_that_changes_after_the_check_is_noticed(directory: Path, name: str) -> None:
    """All formats that show output read it again, and prove it again."""
    evidence = open_evidence(directory)
    for path in directory.glob("std*.bin"):
        path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(EvidenceAltered, match="is not what was kept"):
        FORMATS[name].render(evidence)


def test_a_run_directory_that_is_a_link_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(directory)
    done = CliRunner().invoke(cli, ["export", str(tmp_path / "link"), "--format", "md"])
    assert (done.exit_code, "not a run directory" in done.stderr) == (2, True)
