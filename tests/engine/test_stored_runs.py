"""A real replay in the store: listed, shown, killed halfway, removed; and no secret in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.adversary.waiting import eventually
from tests.engine.cli import Ran, runner

SECRET = "hunter22-correct-horse"
PROGRAM = """
import os, sys
from pathlib import Path
print("using", os.environ["API_TOKEN"], "and https://me:letmein@host/x")
Path("log.txt").write_text("token=" + os.environ["API_TOKEN"])
sys.exit("ledger is off")
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "check.py").write_text(PROGRAM)
    done = command(tmp_path, "record", "--payload", "ledger", "--command", "python3 check.py", "-o", "report.json",
                   "--runs", "1", "--env", f"API_TOKEN={SECRET}", "--artifact", "log.txt", "--match", "ledger is off")
    assert done.code == 0, done.err
    return tmp_path


def environment(place: Path) -> Mapping[str, str]:
    return {**os.environ, "RUNNER_STORE": str(place / "store")}


def command(place: Path, *words: str) -> Ran:
    return runner(*words, cwd=place, env=dict(environment(place)))


def replay(*words: str) -> tuple[str, ...]:
    return ("replay", "report.json", "--payload", "ledger", "--yes", "--env", f"API_TOKEN={SECRET}", *words)


def test_a_replay_is_listed_shown_and_removed(place: Path) -> None:
    done = command(place, *replay("--runs", "2"))
    assert done.code == 0, done.err
    listed = json.loads(command(place, "runs", "list", "--json").out)["runs"]
    assert [(row["verdict"], row["passes"], row["runs"], row["state"]) for row in listed] == [
        ("reproduced", 2, 2, "finished")]
    run_id = listed[0]["run_id"]
    assert f"{run_id}  reproduced" in command(place, "runs", "list").out
    assert command(place, "runs", "show", "latest").out == done.out
    assert len(command(place, "runs", "show", run_id, "--events").out.splitlines()) == 5
    assert command(place, "runs", "rm", run_id, "--yes").code == 0
    assert command(place, "runs", "list").out == "no runs\n"
    assert list((place / "store" / "runs").iterdir()) == []


def test_no_secret_is_stored(place: Path) -> None:
    """Neither a value of --env nor a password that the program made up: not in output, artifacts, events or index."""
    done = command(place, *replay("--json"))
    assert done.code == 0, done.err
    sample, = done.json["samples"]
    assert (sample["stdout"]["masked"], sample["artifacts"][0]["masked"]) == (len(SECRET) + len("letmein"), len(SECRET))
    everything = [path for path in (place / "store").rglob("*") if path.is_file()]
    assert len(everything) > 6
    for path in everything:
        assert not any(word in path.read_bytes() for word in (SECRET.encode(), b"letmein")), path
    run = Path(json.loads(command(place, "runs", "list", "--json").out)["runs"][0]["directory"])
    assert (run / "stdout-1.bin").read_text() == f"using {'*' * len(SECRET)} and https://me:*******@host/x\n"
    assert command(place, "runs", "show", "latest").code == 0


def test_a_controller_killed_in_its_second_run_keeps_the_first(place: Path) -> None:
    """The first run is confirmed before it is told."""
    words = replay("--runs", "3")
    with subprocess.Popen([sys.executable, "-m", "runner", *words], cwd=place, env=environment(place),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as controller:
        assert controller.stderr is not None
        told = controller.stderr.readline()
        controller.kill()
    assert told.startswith("run 1/3: passed")
    eventually(lambda: "killed" in command(place, "runs", "list").out, "the killed replay is not called killed")
    shown = json.loads(command(place, "runs", "show", "run_", "--json").out)
    assert shown["state"] == "killed"
    assert len(shown["samples"]) >= 1
    assert command(place, "gc", "--grace", "3", "--json").code == 0
    for sample in shown["samples"]:
        assert (Path(shown["files"]) / sample["stdout"]["file"]).read_bytes().startswith(b"using ***")
    assert "KILLED: " in command(place, "runs", "show", "run_").out
    assert command(place, "runs", "prune", "--killed").code == 0
    assert list((place / "store" / "runs").iterdir()) == []
    eventually(lambda: not json.loads(command(place, "gc", "--grace", "3", "--json").out)["volumes"],
               "volumes of the killed replay stay")
