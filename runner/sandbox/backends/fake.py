"""A backend that runs nothing: scripted outcomes, and a record of the calls in their order.

For tests of whatever stands on a backend, and for proving that the order of calls is kept: it refuses what a
real one must refuse, such as looking at a tree while its workload lives.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from runner.errors import SetupError
from runner.evidence.observation import Artifact, Workspace
from runner.payload.fingerprint import Change, Fingerprint
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import Aftermath, BackendFacts, Execution, Plan
from runner.sandbox.exit import Cause, ExitFacts, ExitStatus, StopReason, classify_exit
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sandbox.output import OutputPair, nothing_held

_PASSED = ExitStatus(Cause.EXITED, 0)


@dataclass(frozen=True, slots=True)
class FakeRun:
    """What one run is to show. Seconds and bytes.

    Each ``*_error`` is raised by the call that it names instead of an answer. ``until_cancelled``: the
    workload does not end by itself. ``after`` defaults to the sealed fingerprint when there are no changes.
    """

    status: ExitStatus = _PASSED
    stdout: bytes = b""
    stderr: bytes = b""
    changes: tuple[Change, ...] = ()
    after: Fingerprint | None = None
    artifacts: tuple[Artifact, ...] = ()
    note: str = ""
    workspace: Workspace = Workspace.ROOM
    wall_seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    until_cancelled: bool = False
    prepare_error: Exception | None = None
    execute_error: Exception | None = None
    inspect_error: Exception | None = None


class Call(NamedTuple):
    """One call as it came in; ``run`` is 0 for the session's calls. ``ran`` marks the end of a workload."""

    name: str
    run: int = 0


@dataclass(slots=True)
class _Log:
    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, run: int = 0) -> None:
        with self.lock:
            self.calls.append(Call(name, run))


@dataclass(frozen=True, slots=True)
class _Stage:
    """What all runs of a session share."""

    plan: Plan
    sealed: Fingerprint
    log: _Log
    cancelled: threading.Event = field(default_factory=threading.Event)


class FakeBackend:
    """Run k shows ``script[k-1]``; the last one repeats. ``open_error`` is raised by :meth:`open`."""

    name = "fake"

    def __init__(self, script: Sequence[FakeRun] = (FakeRun(),), *, facts: BackendFacts | None = None,
                 image: ResolvedImage | None = None, open_error: Exception | None = None) -> None:
        if not script:
            raise ValueError("a fake backend needs at least one scripted run")
        self._script = tuple(script)
        self._facts = facts or BackendFacts(backend=self.name, boundary="none (nothing runs)")
        self._image = image
        self._open_error = open_error
        self._log = _Log()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far, in order."""
        with self._log.lock:
            return tuple(self._log.calls)

    def probe(self) -> BackendFacts:
        """The facts it was made with."""
        self._log.add("probe")
        return self._facts

    def resolve_image(self, wanted: ImagePin | str | None) -> ResolvedImage | None:  # noqa: ARG002  scripted
        """The image it was made with."""
        self._log.add("resolve_image")
        return self._image

    @contextmanager
    def open(self, plan: Plan, sealed: SealedPayload) -> Iterator[FakeSession]:
        """A session that plays the script."""
        self._log.add("open")
        if self._open_error is not None:
            raise self._open_error
        session = FakeSession(plan, sealed, self._script, self._log, self._facts)
        try:
            yield session
        finally:
            session.close()


class FakeSession:
    """Implements Session."""

    def __init__(self, plan: Plan, sealed: SealedPayload, script: tuple[FakeRun, ...], log: _Log,
                 facts: BackendFacts) -> None:
        self._facts = facts
        self._stage = _Stage(plan, sealed.fingerprint, log)
        self._script = script
        self._log = log
        self._closed = False

    def prepare(self, index: int) -> FakePreparedRun:
        """The scripted run of that index."""
        self._log.add("prepare", index)
        if self._closed:
            raise SetupError("the session is closed")
        scripted = self._script[min(index, len(self._script)) - 1]
        if scripted.prepare_error is not None:
            raise scripted.prepare_error
        return FakePreparedRun(index, scripted, self._stage)

    def facts(self) -> BackendFacts:
        """The backend's."""
        return self._facts

    def cancel(self) -> None:
        """End every run that waits to be cancelled."""
        self._log.add("cancel")
        self._stage.cancelled.set()

    def close(self) -> None:
        """Refuse everything from now on."""
        self._log.add("close")
        self._stage.cancelled.set()
        self._closed = True


class FakePreparedRun:
    """Implements PreparedRun."""

    def __init__(self, index: int, scripted: FakeRun, stage: _Stage) -> None:
        self.index = index
        self.before = stage.sealed
        self._scripted = scripted
        self._plan = stage.plan
        self._log = stage.log
        self._cancelled = stage.cancelled
        self._state = "ready"

    def execute(self) -> Execution:
        """Play the run, under the policy's output caps."""
        self._log.add("execute", self.index)
        if self._state != "ready":
            raise SetupError(f"run {self.index} cannot be executed again")
        self._state = "alive"
        try:
            return self._play()
        finally:
            self._state = "over"
            self._log.add("ran", self.index)

    def _play(self) -> Execution:
        scripted, caps = self._scripted, self._plan.policy.output
        if scripted.until_cancelled:
            self._cancelled.wait()
        if scripted.execute_error is not None:
            raise scripted.execute_error
        output = OutputPair(caps.stdout, caps.stderr, caps.keep)
        output.feed_stdout(scripted.stdout)
        output.feed_stderr(scripted.stderr)
        seen, _ = output.finish(nothing_held)
        stopped = StopReason.OUTPUT if seen.over_limit else None
        if self._cancelled.is_set():
            stopped = StopReason.CANCEL
        status = scripted.status if stopped is None else classify_exit(ExitFacts(None, None, stopped=stopped))
        return Execution(status=status, stdout=seen.stdout, stderr=seen.stderr, output_sha256=seen.sha256,
                         wall_seconds=scripted.wall_seconds, cpu_seconds=scripted.cpu_seconds,
                         peak_memory=scripted.peak_memory)

    def inspect(self) -> Aftermath:
        """The scripted changes. Raises SetupError while the workload lives, or before it did."""
        self._log.add("inspect", self.index)
        if self._state != "over":
            raise SetupError(f"run {self.index} cannot be inspected: its command has not run to its end")
        scripted = self._scripted
        if scripted.inspect_error is not None:
            raise scripted.inspect_error
        after = scripted.after or (None if scripted.changes else self.before)
        return Aftermath(after=after, changes=scripted.changes, note=scripted.note,
                         artifacts=scripted.artifacts, workspace=scripted.workspace)

    def discard(self) -> None:
        """Nothing is left to look at."""
        self._log.add("discard", self.index)
        self._state = "discarded"
