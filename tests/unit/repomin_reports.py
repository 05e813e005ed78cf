"""Valid ReproMin reports to break, one rule at a time."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[1] / "data" / "repomin"
DROP = object()


def sample_path(letter: str) -> Path:
    """The report file of sample a, b, c or d."""
    return next(SAMPLES.glob(f"{letter}-*/*.repomin/report.json"))


def sample(letter: str) -> dict[str, Any]:
    return json.loads(sample_path(letter).read_bytes())


def certified() -> dict[str, Any]:
    """Sample a with a certified holdout of three runs, one of which failed."""
    report = sample("a")
    report["holdout_certification"] |= {
        "status": "certified", "planned_runs": 3, "completed_runs": 3, "passes": 2, "minimum_rate": 0.5,
        "confidence": 0.95, "required_passes": 2, "observed_rate": 2 / 3, "exact_lower_bound": 0.1,
        "exact_p_value": 0.5, "exact_rate_gate_passed": False, "ordinary_failures": 1,
        "artifact_fingerprint": report["output"]["tree_sha256"],
        "samples": [run(1, accepted=True, outcome="passed"), run(2, accepted=False, outcome="failed"),
                    run(3, accepted=True, outcome="passed")]}
    return report


def stopped() -> dict[str, Any]:
    """Sample a with an aborted holdout of three runs: timed out, out of memory, interrupted."""
    report = sample("a")
    report["holdout_certification"] |= {
        "status": "aborted", "planned_runs": 5, "completed_runs": 3, "passes": 0, "timed_out_runs": 1,
        "resource_exhausted_runs": 1, "interrupted_runs": 1,
        "samples": [run(1, outcome="timed_out", timed_out=True),
                    run(2, outcome="resource_exhausted", resource_exhausted=True, resource_reason="memory"),
                    {"index": 3, "accepted": False, "outcome": "interrupted", "timed_out": False,
                     "resource_exhausted": False}]}
    return report


def run(index: int, **fields: object) -> dict[str, object]:
    return {"index": index, "accepted": False, "returncode": 7, "duration_seconds": 0.5, "timed_out": False,
            "resource_exhausted": False, "resource_reason": None, "output_sha256": "0" * 64} | fields


def edited(report: dict[str, Any], **changes: object) -> dict[str, Any]:
    """A copy with fields set: ``execution__limits__pids=1``, ``events__0__phase=DROP``."""
    result = copy.deepcopy(report)
    for path, value in changes.items():
        *parents, last = (int(part) if re.fullmatch(r"\d+", part) else part for part in path.split("__"))
        place: Any = result
        for part in parents:
            place = place[part]
        if value is DROP:
            del place[last]
        else:
            place[last] = value
    return result
