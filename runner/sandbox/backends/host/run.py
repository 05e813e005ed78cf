"""One run on the host, in a fresh copy of its own."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from runner.errors import SetupError, printable
from runner.payload.fingerprint import Fingerprint
from runner.sandbox.backends.base import Aftermath, Execution, Plan
from runner.sandbox.backends.host.guard import Guard, Launch
from runner.sandbox.backends.host.pump import Ending, Pump
from runner.sandbox.backends.host.worktree import WorkTree
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline
from runner.sandbox.exit import ExitFacts, StopReason, classify_exit
from runner.sandbox.output import OutputPair, nothing_held

_CPU_SLACK = 10
_LONGEST = 1e6


@dataclass(frozen=True, slots=True)
class Shared:
    """What all runs of a session share. ``env`` is the command's whole environment; ``busy`` is held while a
    command lives.
    """

    plan: Plan
    env: Mapping[str, str] = field(repr=False)
    cancel: Cancel
    busy: Callable[[], AbstractContextManager[None]]


class HostRun:
    """Implements PreparedRun: the copy is made and proved; nothing has run yet."""

    def __init__(self, index: int, tree: WorkTree, shared: Shared) -> None:
        self.index = index
        self._tree = tree
        self._shared = shared
        self._plan = shared.plan
        self._cancel = shared.cancel
        self._released = False
        self._over = False

    @property
    def before(self) -> Fingerprint:
        """Read back from the fresh copy; equal to the seal."""
        return self._tree.before

    def execute(self) -> Execution:
        """Run the command to its end, with all that it starts. Raises SetupError, also when called twice."""
        if self._released or self._tree.removed:
            raise SetupError(f"run {self.index} cannot be executed again")
        self._released = True
        output_caps = self._plan.policy.output
        output = OutputPair(output_caps.stdout, output_caps.stderr, output_caps.keep)
        with self._shared.busy():
            ending, refused = self._carry_out(output)
        self._over = True
        seen, _ = output.finish(nothing_held)
        facts = ExitFacts(trailer=ending.trailer, engine_exit_code=None, stopped=ending.stopped,
                          shell_text=self._plan.shell_speaks, start_refused=refused)
        return Execution(
            status=classify_exit(facts), stdout=seen.stdout, stderr=seen.stderr, output_sha256=seen.sha256,
            wall_seconds=ending.wall_seconds, cpu_seconds=ending.cpu_seconds, peak_memory=ending.peak_memory,
            root=self._tree.path)

    def _carry_out(self, output: OutputPair) -> tuple[Ending, str | None]:
        """The ending, and why the command was refused a start."""
        if self._cancel.thrown:
            return Ending.of_nothing(StopReason.CANCEL), None
        if not os.path.isdir(self._cwd):
            refused = f"the working directory {printable(self._plan.cwd)} is not in the payload"
            return Ending.of_nothing(None), refused
        return self._follow(output), None

    @property
    def _cwd(self) -> bytes:
        return os.path.normpath(os.path.join(os.fsencode(self._tree.path), os.fsencode(self._plan.cwd)))

    def _follow(self, output: OutputPair) -> Ending:
        with Guard() as guard:
            guard.release(Launch(self._plan.argv, self._cwd, self._shared.env, self._limits()))
            return Pump(guard, output, Deadline.after(self._plan.timeout), self._cancel).run()

    def _limits(self) -> dict[str, int]:
        """CPU time is a second line behind the deadline: all cores for the whole time must be allowed."""
        cpu = math.ceil(min(self._plan.timeout, _LONGEST)) * (os.cpu_count() or 1) + _CPU_SLACK
        policy = self._plan.policy
        return {"core": 0, "cpu": cpu, "fsize": policy.file_size, "nofile": policy.nofile}

    def inspect(self) -> Aftermath:
        """Compare the copy with the seal. Raises SetupError before :meth:`execute` has returned."""
        if not self._over or self._tree.removed:
            raise SetupError(f"run {self.index} cannot be inspected: its command has not run to its end")
        return self._tree.aftermath()

    def discard(self) -> None:
        """Remove the copy. Safe at any point and more than once, but not while :meth:`execute` runs."""
        self._tree.remove()
