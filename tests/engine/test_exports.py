"""A real run, recorded and replayed, exported in every format, checked by validators of others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli import Ran, runner
from export_validators import CHECKS, check_intoto, check_junit, check_markdown, check_sarif
from openssl import make_key, verify_envelope

from runner.reports.formats import FORMATS

LEDGER = Path(__file__).parents[2] / "docs" / "samples" / "ledger"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which a failing sample was recorded and replayed three times; the run is in its store."""
    place = tmp_path_factory.mktemp("replayed")
    recorded = within(place, "record", "--payload", LEDGER, "--command", "python3 check.py", "--runs", 1,
                      "-o", "report.json")
    assert recorded.code == 0, recorded.err
    done = within(place, "replay", "report.json", "--payload", LEDGER, "--runs", 3, "--yes", "--quiet")
    assert done.code == 0, done.err
    return place


def within(place: Path, *words: object) -> Ran:
    """``runner WORDS`` in a directory that has a store of its own."""
    return runner(*words, cwd=place, env=os.environ | {"RUNNER_STORE": str(place / ".runner")})


def export(place: Path, name: str, *words: object) -> Ran:
    """Of the one run that there is."""
    return within(place, "export", "latest", "--format", name, *words)


@pytest.mark.parametrize("name", [*FORMATS])
def test_a_real_run_is_exported_in_every_format(replayed: Path, name: str) -> None:
    done = export(replayed, name)
    assert (done.code, done.err) == (0, "")
    if name in CHECKS:
        CHECKS[name](done.out)


def test_what_the_formats_say_of_it(replayed: Path) -> None:
    result = json.loads(export(replayed, "json").out)
    page = check_markdown(export(replayed, "md").out)
    assert next(page.iter("h1")).text == "REPRODUCED: 3 of 3 runs matched"
    suite = check_junit(export(replayed, "junit").out)
    assert [case.name for case in suite] == ["run 1", "run 2", "run 3", "verdict"]
    assert all(case.time > 0 for case in list(suite)[:3])
    location = check_sarif(export(replayed, "sarif").out)["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "check.py"
    line = (LEDGER / "check.py").read_text(encoding="utf-8").splitlines()[location["region"]["startLine"] - 1]
    assert "raise ValueError" in line
    statement = check_intoto(export(replayed, "in-toto").out)
    assert statement["predicate"]["result"] == "PASSED"
    assert statement["subject"][0]["digest"]["sha256"] == result["payload_fingerprint"]["exact"]


def test_a_real_run_is_signed_and_its_alteration_refused(replayed: Path, tmp_path: Path) -> None:
    private, public = make_key(tmp_path, "ed25519")
    made = export(replayed, "in-toto", "--sign", private, "-o", tmp_path / "signed")
    assert made.code == 0, made.err
    assert verify_envelope((tmp_path / "signed").read_bytes(), "ed25519", public, tmp_path)
    assert "result       PASSED" in runner("export", "verify", tmp_path / "signed", "--key", public).out
    output = next(replayed.glob(".runner/runs/*/stderr-1.bin"))
    kept = output.read_bytes()
    try:
        output.write_bytes(kept[::-1])
        refused = export(replayed, "in-toto")
        assert (refused.code, refused.out) == (2, "")
        assert "stderr-1.bin is not what was kept" in refused.err
    finally:
        output.write_bytes(kept)
