"""One run in a container of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import docker

from runner.errors import SeedMismatch, SetupError, StewardLost
from runner.evidence.observation import Workspace
from runner.payload.fingerprint import Fingerprint
from runner.sandbox.backends.base import Aftermath, Execution
from runner.sandbox.backends.docker.blueprint import Blueprint
from runner.sandbox.backends.docker.boundary import is_gvisor
from runner.sandbox.backends.docker.container import Container, FinalState
from runner.sandbox.backends.docker.group import Group
from runner.sandbox.backends.docker.pump import MAX_GRACE, Stops, pump
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline, Limit
from runner.sandbox.exit import ExitFacts, StopReason, Trailer, classify_exit
from runner.sandbox.output import OutputPair
from runner.sandbox.steward import Usage
from runner.sandbox.trailer import TRAILER_BYTES, new_nonce, release_message, split_trailer

_WAIT_SECONDS = 30.0
_MAX_ARTIFACTS = 1000
_NEARLY = 1 << 16


class DockerRun:
    """The constructor starts the container, which waits; :meth:`seed` makes the run ready: volume cloned and proved."""

    before: Fingerprint

    def __init__(self, api: docker.APIClient, blueprint: Blueprint, group: Group, index: int,
                 cancel: Cancel, leave: Callable[[int], bool]) -> None:
        self.index = index
        self._leave = leave
        self._blueprint = blueprint
        self._group = group
        self._cancel = cancel
        self._nonce = new_nonce()
        self._discarded = False
        limits = blueprint.plan.policy.output
        self.output = OutputPair(limits.stdout, limits.stderr, limits.keep, hold_back=TRAILER_BYTES)
        self._begun = 0.0
        self._released = False
        self._over = False
        self._container = Container(api, blueprint.workload(index, group.tools),
                                    blueprint.plan.policy.accept_unenforced, blueprint.dialect)
        try:
            group.wait_for_tools()
            self._attachment = self._container.start()
        except BaseException:
            self._container.discard()
            raise

    def seed(self) -> None:
        """Copy the payload and read it back. Raises SeedMismatch."""
        steward = self._group.steward()
        steward.clone(self._group.slot(self.index))
        self.before = steward.fingerprint(self._group.slot(self.index))
        if self.before != self._group.sealed_fingerprint:
            raise SeedMismatch(f"the fresh volume of run {self.index} does not hold what was sealed",
                               hint="try again; if it repeats, the engine's storage is not to be trusted")

    def execute(self) -> Execution:
        """Release, follow to the end within the plan's time, classify."""
        self.release()
        return self.follow(Deadline.after(self._blueprint.plan.timeout))

    def release(self) -> None:
        """Send nonce and environment: from now on the workload runs."""
        if self._released:
            raise SetupError(f"run {self.index} was executed already: a fresh copy is used once")
        self._released = True
        self._begun = time.monotonic()
        with suppress(BrokenPipeError, ConnectionResetError):
            # If it is over already, the stream and the engine's final state say how.
            self._attachment.send(release_message(self._nonce, self._blueprint.plan.env))

    def follow(self, deadline: Limit, stops: Stops | None = None) -> Execution:
        """Follow the output of a released workload to its end, or until it must stop; classify."""
        switches = {self._cancel: StopReason.CANCEL, **(stops or {})}
        stopped = pump(self._attachment, self.output, deadline, switches, self._end)
        wall = time.monotonic() - self._begun
        final = self._container.wait(Deadline.after(_WAIT_SECONDS))
        self._over = True
        seen, trailer = self.output.finish(lambda tail: split_trailer(tail, self._nonce))
        return Execution(status=classify_exit(self._facts(trailer, final, stopped, seen.over_limit)),
                         stdout=seen.stdout, stderr=seen.stderr, output_sha256=seen.sha256, wall_seconds=wall,
                         cpu_seconds=self._cpu_seconds(trailer),
                         peak_memory=trailer.peak_memory if trailer else None)

    def _end(self, reason: StopReason) -> None:
        grace = min(self._blueprint.plan.grace, MAX_GRACE)
        if reason is StopReason.CANCEL and grace > 0:
            self._container.terminate(grace)
        self._container.kill()

    def _cpu_seconds(self, trailer: Trailer | None) -> float | None:
        """gVisor counts as used what a process waits for its quota (seen: 13.6 s in 2.5 s on one core): no figure."""
        if trailer is None or is_gvisor(self._blueprint.plan.policy.runtime):
            return None
        return (trailer.user_us + trailer.system_us) / 1e6

    def _facts(self, trailer: Trailer | None, final: FinalState, stopped: StopReason | None,
               over: bool) -> ExitFacts:
        # Not every engine tells of an OOM kill; the cgroup's own count, read by our init, does.
        counted = trailer is not None and bool(trailer.oom_kills)
        return ExitFacts(trailer=trailer, engine_exit_code=final.exit_code, oom_flag=final.oom_killed or counted,
                         stopped=StopReason.OUTPUT if stopped is None and over else stopped,
                         shell_text=self._blueprint.plan.shell_speaks)

    def inspect(self) -> Aftermath:
        """Compare the volume with the seal; the container is over, so nobody else can touch it."""
        if not self._over:
            raise SetupError(f"run {self.index} is not over: its volume may still be touched")
        if self._cancel.thrown:
            return Aftermath(after=None, note="cancelled before the volume was looked at")
        steward, plan, slot = self._group.steward(), self._blueprint.plan, self._group.slot(self.index)
        usage = steward.usage(slot)
        seen = steward.changes(slot)
        if not plan.artifacts:
            return Aftermath(seen.after, seen.changes, seen.note, workspace=_fullness(usage))
        found = steward.collect(slot, plan.artifacts, _MAX_ARTIFACTS, plan.policy.output.artifacts)
        note = "; ".join(part for part in (seen.note, found.note) if part)
        return Aftermath(seen.after, seen.changes, note, found.artifacts, _fullness(usage))

    @property
    def busy(self) -> bool:
        """Whether the workload was released and is not known to be over."""
        return self._released and not self._over

    def remove(self) -> None:
        """Remove the container of a run that never got its copy."""
        self._container.discard()

    def discard(self) -> None:
        """Remove the container and empty the volume; with the last run of a group, remove the group."""
        if self._discarded:
            return
        self._discarded = True
        if self.busy:
            self._container.discard()  # the steward touches no volume that a workload may still write to
        last = self._leave(self.index)
        if last:
            self._group.dismiss()
        elif not self._cancel.thrown:
            # A lost steward's volumes go with the group; the fault itself is raised where it was met.
            with suppress(StewardLost):
                self._group.steward().wipe(self._group.slot(self.index))
        self._container.discard()
        if last:
            self._group.close()


def _fullness(usage: Usage) -> Workspace:
    if usage.free_inodes == 0:
        return Workspace.FULL_INODES
    return Workspace.FULL_BYTES if usage.free_bytes < _NEARLY else Workspace.ROOM
