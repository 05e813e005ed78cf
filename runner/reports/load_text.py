"""What a terminal shows of a load run: assertion by assertion, then the figures people ask for. Pure."""

from __future__ import annotations

import shlex
from typing import Any

from runner.evidence.load_record import AssertionRecord, LoadRecord
from runner.evidence.result import Result
from runner.reports.naming import operand

_SHOWN = 20
_STATES = {"pass": "holds", "fail": "failed", "unknown": "unknown"}


def counted_assertions(result: Result) -> str:
    """How many assertions hold, and how many journeys there were."""
    rows = result.assertions or ()
    held = sum(1 for row in rows if row.status == "pass")
    iterations = _number((result.metrics or {}).get("iterations"))
    return f"{held} of {len(rows)} assertions hold, {iterations} of {result.planned_journeys or 0} journeys"


def load_lines(result: Result, load: LoadRecord) -> list[str]:
    """The lines that take the place of a command's."""
    lines = [f"scenario     {load.scenario}, seed {result.seed}",
             f"application  {load.target_command or 'runs elsewhere'} at {load.target}"]
    rows = result.assertions or ()
    lines += [f"{_STATES[row.status]:<12} {_row(row)}" for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        lines.append(f"             and {len(rows) - _SHOWN} more assertions, in result.json")
    if result.metrics:
        lines.append(f"requests     {_requests(result.metrics)}")
    lines += [f"{'journeys':<12} {name}: {_funnel(steps)}" for name, steps in list((result.journeys or {}).items())[:5]]
    if load.engine:
        lines.append(f"k6           {load.engine}")
    return lines


def load_command(result: Result, load: LoadRecord) -> str:
    """The shell command that runs the scenario again."""
    words = ["runner", "verify", operand(load.directory)]
    if load.target_command is not None:
        words += ["--payload", operand(result.payload), "--target-command", load.target_command,
                  "--target-url", load.target]
    else:
        words += ["--target", load.target]
    words += ["--seed", str(result.seed)]
    for name in result.environment_names:
        words += ["--env", name]
    return shlex.join(words)


def _row(row: AssertionRecord) -> str:
    return row.id + (f": {row.reason}" if row.reason else f" ({row.samples} samples)" if row.samples > 1 else "")


def _requests(metrics: dict[str, Any]) -> str:
    failed, latency = metrics.get("http_req_failed_rate", {}), metrics.get("http_req_duration_ms", {})
    figures = ", ".join(f"{name} {latency[name]:g} ms" for name in ("p50", "p95", "p99")
                        if isinstance(latency.get(name), int | float))
    return (f"{_number(metrics.get('http_reqs'))}, {_number(failed.get('failed'))} of them failed"
            + (f"; {figures}" if figures else ""))


def _funnel(steps: dict[str, Any]) -> str:
    stages = ", ".join(f"{stage['name']} {stage['reached']}" for stage in steps.get("stages", ()))
    return f"{steps.get('started', 0)} started, {stages}"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "0"
