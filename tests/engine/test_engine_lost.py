"""The engine dies while it is needed: nothing is claimed, nothing that was finished is lost (row 14)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import runner
from second_engine import SecondEngine, second_engine


@pytest.fixture(scope="module")
def engine() -> Iterator[SecondEngine]:
    with second_engine() as one:
        built = runner("images", "build", "command", "steward", env=one.env)
        assert built.code == 0, built.err
        yield one


@pytest.fixture
def report(engine: SecondEngine, tmp_path: Path) -> Path:
    engine.start()
    (tmp_path / "payload").mkdir()
    done = runner("record", "--payload", tmp_path / "payload", "--command", "echo out; sleep 1; exit 3",
                  "-o", tmp_path / "report.json", "--match", "out", env=engine.env)
    assert done.code == 0, done.err
    return tmp_path / "report.json"


def test_engine_killed_in_the_middle_keeps_what_was_finished(engine: SecondEngine, report: Path) -> None:
    """One run of three is finished, another sleeps when the engine is killed: exit 2, one sample, no verdict."""
    out = report.parent / "out"
    command = [sys.executable, "-m", "runner", "replay", str(report), "--payload", str(report.parent / "payload"),
               "--yes", "--json", "--runs", "3", "--out", str(out)]
    with subprocess.Popen(command, env=engine.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as controller:
        assert controller.stderr is not None
        line = controller.stderr.readline()
        assert line.startswith(b"run 1/3: passed"), line
        engine.kill()
        answer, complaint = controller.communicate(timeout=120)
    assert controller.returncode == 2, complaint
    assert b"Traceback" not in complaint
    told = json.loads(answer)
    assert (told["ok"], told["reproduced"], told["verdict"], told["runs"]) == (False, False, "no_verdict", 3)
    sample, = told["samples"]
    assert (sample["accepted"], sample["cause"], sample["returncode"]) == (True, "exited", 3)
    assert told["reasons"] != []
    assert json.loads((out / "result.json").read_text())["samples"] == [sample]
    assert (out / sample["stdout"]["file"]).read_bytes() == b"out\n"
    assert sorted(path.name for path in report.parent.iterdir()) == ["out", "payload", "report.json"]

    engine.start()
    assert docker(engine, "ps", "-aq") + docker(engine, "volume", "ls", "-q") != []
    swept = runner("gc", "--grace", "0", env=engine.env)
    assert swept.code == 0, swept.err
    assert docker(engine, "ps", "-aq") + docker(engine, "volume", "ls", "-q") == []


def test_engine_that_is_not_there_is_one_clear_line(engine: SecondEngine, report: Path) -> None:
    """Nothing answers: exit 2, a line that says what to do, no evidence of a run that never was."""
    out = report.parent / "out"
    engine.kill()
    done = runner("replay", report, "--payload", report.parent / "payload", "--yes", "--out", out, env=engine.env)
    assert (done.code, out.exists()) == (2, False)
    assert done.err.startswith("runner: ")
    assert done.err.count("\n") == 1


def docker(engine: SecondEngine, *words: str) -> list[str]:
    """Lines of a docker command on that engine."""
    done = subprocess.run(["docker", *words], env=engine.env, capture_output=True, text=True, check=True)
    return done.stdout.split()
