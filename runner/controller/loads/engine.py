"""Does k6 run on this engine? It is asked for its version, in a container as a load run has it."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from runner.controller.bounds import seal_limits
from runner.controller.loads.request import LOAD_POLICY
from runner.controller.observe import RunsCut, observe
from runner.errors import RunnerError, printable
from runner.load_driver.place import K6
from runner.payload.seal import seal
from runner.sandbox.backends.base import PairBackend, Plan
from runner.sandbox.policy import load_policy

_SECONDS = 30.0


def k6_version(backend: PairBackend) -> str:
    """The line that k6 says of itself; empty if it says none. Raises RunnerError: no image, or no container of it."""
    policy = load_policy(LOAD_POLICY)
    plan = Plan(argv=(K6, "version"), cwd=".", env=(), policy=policy, timeout=_SECONDS, runs=1, ahead=0,
                image=backend.own_image("k6"))
    with TemporaryDirectory(prefix="runner-job-") as nothing:
        try:
            with backend.open(plan, seal(nothing, seal_limits(policy))) as session:
                seen = observe(session, plan, lambda _: None)[0]
        except RunsCut as cut:
            if isinstance(cut.__cause__, RunnerError):
                raise cut.__cause__ from None
            raise
    lines = seen.stdout.head.decode("utf-8", "replace").splitlines()
    return printable(lines[0])[:200] if lines and seen.status.returncode == 0 else ""
