"""Run a prepared session to its end: run k+1 is made ready while run k runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from typing import Any

from runner.evidence.observation import Observation
from runner.sandbox.backends.base import Plan, PreparedRun, Session, Side

Progress = Callable[[Observation], None]
_SIGNALS_SEEN_SECONDS = 0.5


class RunsCut(Exception):
    """The runs could not all be finished; those that were are here, the reason is ``__cause__``."""

    def __init__(self, finished: tuple[Observation, ...]) -> None:
        super().__init__(f"{len(finished)} runs were finished")
        self.finished = finished


def observe(session: Session, plan: Plan, progress: Progress,
            running: Callable[[], None] = lambda: None) -> tuple[Observation, ...]:
    """All runs of a plan, in order of their index; ``running`` is called once, as the first begins to execute. Raises
    RunsCut.

    At most ``plan.jobs`` execute at once and ``plan.ahead`` more are being made ready or wait. Everything
    that was made ready is discarded before this returns, whatever happens.
    """
    finished: dict[int, Observation] = {}
    with ThreadPoolExecutor(plan.jobs + plan.ahead, thread_name_prefix="run") as pool:
        line = _Line(session, plan, pool, running)
        try:
            for observation in line.follow():
                finished[observation.index] = observation
                progress(observation)
        except BaseException as error:
            session.cancel()
            finished.update((seen.index, seen) for seen in line.abandon())
            raise RunsCut(_in_order(finished)) from error
    return _in_order(finished)


def _in_order(finished: dict[int, Observation]) -> tuple[Observation, ...]:
    return tuple(finished[index] for index in sorted(finished))


class _Line:
    """The assembly line. Only the calling thread touches its state; the pool's threads only carry out."""

    def __init__(self, session: Session, plan: Plan, pool: ThreadPoolExecutor, running: Callable[[], None]) -> None:
        self._session = session
        self._plan = plan
        self._pool = pool
        self._first: Callable[[], None] | None = running
        self._todo = iter(range(1, plan.runs + 1))
        self._preparing: dict[Future[PreparedRun], int] = {}
        self._ready: dict[int, PreparedRun] = {}
        self._running: set[Future[Observation]] = set()

    def follow(self) -> Iterator[Observation]:
        """Yield each observation as soon as it is there."""
        self._top_up()
        while self._preparing or self._running or self._ready:
            # Not for ever: a signal that comes just before the wait is acted on when it ends.
            done, _ = wait(self._under_way(), timeout=_SIGNALS_SEEN_SECONDS, return_when=FIRST_COMPLETED)
            observed = [future for future in done if future in self._running]
            for future in [future for future in done if future in self._preparing]:
                index = self._preparing.pop(future)
                self._ready[index] = future.result()
            self._top_up()
            for future in observed:
                self._running.discard(future)
                self._top_up()
                yield future.result()

    def _under_way(self) -> list[Future[Any]]:
        return [*self._preparing, *self._running]

    def _top_up(self) -> None:
        while self._ready and len(self._running) < self._plan.jobs:
            run = self._ready.pop(min(self._ready))
            self._running.add(self._pool.submit(observe_one, run))
            if self._first is not None:
                tell, self._first = self._first, None
                tell()
        room = self._plan.jobs + self._plan.ahead - len(self._preparing) - len(self._ready) - len(self._running)
        for index in islice(self._todo, max(room, 0)):
            self._preparing[self._pool.submit(self._session.prepare, index)] = index

    def abandon(self) -> Iterator[Observation]:
        """After a cancel: wait for what is under way, discard what waits, yield what still came to its own end."""
        wait(self._under_way())
        for prepared in self._preparing:
            if prepared.exception() is None:
                prepared.result().discard()
        for run in self._ready.values():
            run.discard()
        for future in self._running:
            if future.exception() is None and future.result().status.cause != "cancelled":
                yield future.result()


def observe_one(run: PreparedRun) -> Observation:
    """Execute, inspect and discard one run."""
    try:
        execution = run.execute()
        aftermath = run.inspect()
    finally:
        run.discard()
    target = _observation(run.index, aftermath.target) if aftermath.target else None
    return replace(_observation(run.index, Side(run.before, execution, aftermath)), target=target)


def _observation(index: int, seen: Side) -> Observation:
    execution, aftermath = seen.execution, seen.aftermath
    return Observation(
        index=index, status=execution.status, stdout=execution.stdout, stderr=execution.stderr,
        output_sha256=execution.output_sha256, wall_seconds=execution.wall_seconds,
        cpu_seconds=execution.cpu_seconds, peak_memory=execution.peak_memory, before=seen.before,
        after=aftermath.after, changes=aftermath.changes, changes_note=aftermath.note,
        artifacts=aftermath.artifacts, workspace=aftermath.workspace, root=execution.root)
