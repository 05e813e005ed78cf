"""``runner shrink`` with real applications and browsers: LOKI's crash sample, an interrupt, and a poisoned state."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli import runner

DATA = Path(__file__).parents[1] / "data"
CRASH, CART = DATA / "loki" / "crash", DATA / "browser" / "cart_store"


def application(tmp_path: Path, folder: Path, port: int) -> list[str]:
    """Options that name a sample's application, in a payload of its own."""
    payload = tmp_path / "app"
    payload.mkdir()
    shutil.copy(folder / "app.py", payload)
    return ["--payload", str(payload), "--target-command", f"python3 app.py --port {port}", "--yes", "--json"]


def test_the_crash_sample_ends_at_one_step_for_each_failure(tmp_path):
    done = runner("shrink", CRASH, *application(tmp_path, CRASH, 8801), "--jobs", "2", "--out", tmp_path / "short")
    assert done.code == 0, done.err
    thrown, refused = done.json["failures"]
    [pay], [report] = thrown["trace"], refused["trace"]
    assert pay["selector"] == "#pay"
    assert 2 <= pay["repeat"] < 5  # two, unless the host is so busy that the second click comes after the answer
    assert (report["selector"], report["repeat"]) == ("#report", 1)
    for each in (thrown, refused):
        assert Path(each["directory"]).parent == tmp_path / "short"
        again = runner("replay", each["directory"], "--yes", "--json")
        assert again.code == 0, again.err
        assert [found["state"] for found in again.json["session"]["failures"]] == ["reproduced"]


def test_interrupted_it_goes_on_where_it_was_and_ends_the_same(tmp_path):
    options = [*application(tmp_path, CRASH, 8801), "--identity", "http_error"]
    command = [sys.executable, "-m", "runner", "shrink", str(CRASH), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert all(" candidate " in line for line in told)
    assert '"code": "interrupted"' in out
    done = runner("shrink", CRASH, *options)
    assert done.code == 0, done.err
    [each] = done.json["failures"]
    assert (each["cached"], len(each["trace"]), each["after"]["actions"]) == (len(told), 1, 1)


@pytest.mark.parametrize(("meant", "kinds"), [
    ("reading 'reduce'", ["state_fault", "state_fault"]),
    ("reading 'when'", ["click"])])  # the checkout fails whenever nothing was put into the cart before
def test_faults_that_a_failure_needs_stay_with_their_steps_and_no_others(tmp_path, meant, kinds):
    done = runner("shrink", CART, *application(tmp_path, CART, 8814), "--identity", meant, "--jobs", "2")
    assert done.code == 0, done.err
    [each] = done.json["failures"]
    assert [step["kind"] for step in each["trace"]] == kinds
    assert each["after"]["faults"] == kinds.count("state_fault")
