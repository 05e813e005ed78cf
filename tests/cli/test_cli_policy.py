"""``runner policy``, as a person and as a script see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import yaml

from runner.sandbox.policy import load_policy


def runner(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "runner", "policy", *args], capture_output=True, text=True,
                          check=False)


def test_list() -> None:
    done = runner("list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["browser", "default", "load", "strict"]
    assert json.loads(runner("list", "--json").stdout) == [
        {"name": name, "sha256": load_policy(name).digest()} for name in ("browser", "default", "load", "strict")]


def test_show_prints_a_policy_that_can_be_saved(tmp_path: Path) -> None:
    done = runner("show", "strict")
    assert done.returncode == 0
    assert done.stdout.startswith(f"# sha256 {load_policy('strict').digest()}\n")
    own = tmp_path / "own.yaml"
    own.write_text(done.stdout.replace("name: strict", "name: own"), encoding="utf-8")
    assert runner("check", str(own)).stdout == f"ok: policy own, sha256 {load_policy(str(own)).digest()}\n"


def test_show_json_is_the_effective_policy(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nextends: strict\nmemory: 400MiB\n", encoding="utf-8")
    shown = json.loads(runner("show", str(own), "--json").stdout)
    assert shown["policy"] == load_policy(str(own)).model_dump(mode="json")
    assert (shown["policy"]["memory"], shown["sha256"]) == (400 << 20, load_policy(str(own)).digest())


def test_check_says_in_one_line_what_is_wrong(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(yaml.safe_dump({"name": "own", "extends": "default", "timeout": 301}), encoding="utf-8")
    done = runner("check", str(own))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "timeout may only be tightened" in done.stderr
    said = json.loads(runner("check", str(own), "--json").stdout)
    assert (said["ok"], said["code"]) == (False, "policy")


def test_unknown_names_are_errors_with_a_hint() -> None:
    for command in ("show", "check"):
        done = runner(command, "lax")
        assert (done.returncode, done.stdout) == (2, "")
        assert "known policies: browser, default, load, strict" in done.stderr
