"""Killed at any write: SIGKILL before and within every call that changes a file, SQLite's own included, one by one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).with_name("killing")
PATIENCE_SECONDS = 1200
FEWEST = {"replaying": 300, "removing": 100, "migrating": 100, "repairing": 40}
"""Kills that there are at least, so that a library that counts nothing is noticed."""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    built = tmp_path_factory.mktemp("killing") / "killing.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", built, HERE / "killing.c",
                    "-ldl"], check=True)
    return built


@pytest.mark.parametrize("scenario", FEWEST)
def test_nothing_confirmed_is_lost_and_nothing_half_is_shown_as_whole(scenario, library):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:  # memory: what a kill leaves is the same there
        done = subprocess.run([sys.executable, HERE / "driver.py", scenario, place], capture_output=True, text=True,
                              check=False, timeout=PATIENCE_SECONDS, env={**os.environ, "LD_PRELOAD": str(library)})
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= FEWEST[scenario]
