"""``runner init``, as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from runner.cli.main import cli

KIT = Path(__file__).parents[2] / "docs" / "samples" / "isolation" / "kit.json"


def test_json_says_what_was_made(tmp_path):
    out = tmp_path / "made"
    done = CliRunner().invoke(cli, ["init", "tenant-isolation", "--config", str(KIT), "--out", str(out), "--json"])
    told = json.loads(done.stdout)
    assert (told["ok"], told["kind"], told["scenario"]) == (True, "tenant-isolation", str(out))
    assert told["environment"] == ["TOKEN_NORTH", "TOKEN_SOUTH"]
    shown = CliRunner().invoke(cli, ["inspect", str(out), "--json"])
    assert json.loads(shown.stdout)["scenario_sha256"] == told["scenario_sha256"]


def test_an_error_is_json_too(tmp_path):
    (tmp_path / "kit.json").write_text('{"name": "x"}')
    done = CliRunner().invoke(cli, ["init", "idempotent-write", "--config", str(tmp_path / "kit.json"), "--out",
                                    str(tmp_path / "made"), "--json"])
    assert (done.exit_code, json.loads(done.stdout)["ok"]) == (2, False)
    assert not (tmp_path / "made").exists()
