"""What judges a load run is loaded while it is under way, not before."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import runner.controller.loads.perform
from runner.controller.loads.judging import load
heavy = ("msgspec", "runner.oracles.load.metrics", "runner.oracles.load.judge")
print(sum(name in sys.modules for name in heavy))
load()
print(sum(name in sys.modules for name in heavy))
"""


def test_judges_are_loaded_when_that_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == ["0", "3"]
