"""``load``: what ``runner verify`` takes above the schedule's own length, and how late journeys start."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.measure import Ratio, compiled, timed

SAMPLE = Path(__file__).parents[2] / "docs" / "samples" / "coupon"
SECONDS, RATE, RUNS = 4, 50, 3
ABOVE, LATE_MS = 2.5, 5.0


def load_runs(folder: Path) -> Iterator[Ratio]:
    """Whole processes, from the command line to the verdict; fifty journeys a second."""
    scenario = folder / "scenario"
    shutil.copytree(SAMPLE / "scenario", scenario)
    manifest = json.loads((scenario / "manifest.json").read_text(encoding="utf-8"))
    manifest["schedule"]["phases"] = [{"name": "even", "seconds": SECONDS, "rate": RATE}]
    manifest["budgets"] |= {"max_requests": 500, "max_write_attempts": 500, "max_in_flight": 30}
    (scenario / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    results: list[dict[str, Any]] = []

    def verify() -> None:
        done = subprocess.run([sys.executable, "-m", "runner", "verify", str(scenario), "--payload",
                               str(SAMPLE / "app"), "--target-command", "python3 server.py", "--target-url",
                               "http://127.0.0.1:8000", "--json", "--quiet", "--out",
                               str(folder / f"run-{len(results)}")], check=True, stdout=subprocess.PIPE, text=True,
                              env=compiled(folder))
        results.append(json.loads(done.stdout))

    verify()
    above = statistics.median(timed(verify) - SECONDS for _ in range(RUNS))
    late = statistics.median(result["metrics"]["arrival_error_ms"]["p50"] for result in results)
    yield Ratio("load.above", above, ABOVE, 1.0, None, RUNS)
    yield Ratio("load.arrivals", late, LATE_MS, 1.0, None, len(results))
