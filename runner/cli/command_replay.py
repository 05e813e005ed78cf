"""``runner replay`` of a recorded command: a report of ours, ReproMin's, or a bundle."""

from __future__ import annotations

from functools import partial
from typing import Any

from runner.cli.plan import ReplayPlan
from runner.cli.sessions import SESSION_OPTIONS
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, Settled, settle, wanted_image
from runner.errors import UsageError, printable
from runner.sandbox.sizes import format_size


def plan_command(report: str, options: dict[str, Any]) -> ReplayPlan:
    """Settle what the options say. Raises UsageError, and as settle."""
    payload = options.pop("payload")
    for name, value in [(name, options.pop(name)) for name in SESSION_OPTIONS]:
        if value:
            raise UsageError(f"--{name.replace('_', '-')}: is for browser sessions",
                             hint="leave it out, or name a run directory with an incident.json")
    settled = settle(ReplayRequest(report=report, payload=payload, **options))
    return ReplayPlan(_plan_text(settled), settled.request.runs, partial(replay, settled), settled.backend == "host")


def _plan_text(settled: Settled) -> str:
    case, policy = settled.case, settled.policy
    image = wanted_image(settled) or (case.execution.image.id if case.execution.image else "our command image")
    limits = (f"memory {format_size(policy.memory)}, work {format_size(policy.work.size)}, pids {policy.pids}, "
              f"cpus {policy.cpus:g}")
    docker = settled.backend == "docker"
    rows = [
        ("command", case.workload.display),
        ("expects", _expectation(settled)),
        ("payload", settled.request.payload or "in the bundle"),
        ("backend", f"{settled.backend} (recorded: {case.execution.backend})"),
        ("image", image if docker else "none: the host itself"),
        ("network", settled.network if docker else "the host's"),
        ("runs", f"{settled.request.runs}, each at most {settled.timeout:g} s"),
        ("environment", ", ".join(case.environment.names) or "nothing of yours"),
        ("policy", f"{policy.name}: {limits}"),
    ]
    return "\n".join(f"{name:<12} {printable(str(value))}" for name, value in rows)


def _expectation(settled: Settled) -> str:
    contract = settled.case.contract
    parts = [f"exit code {'not 0' if contract.exit_code is None else contract.exit_code}"]
    if contract.match:
        parts.append(f"output matching {contract.match}")
    if contract.signature is not None:
        parts.append(f"a {contract.signature.kind} signature")
    return ", ".join(parts)
