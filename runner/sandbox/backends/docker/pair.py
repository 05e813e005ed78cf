"""An application under test and the driver of a browser, side by side: two sessions that share loopback per run.

Each has a container, volumes and a steward of its own, so neither sees the other's files or processes. The target's
container joins the network of the driver's, which has loopback and nothing else. Since the driver is ours, it is
started first and released as soon as the target has joined, so that its browser starts while the rest is made ready;
the target is released when the run is executed.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace

from runner.payload.fingerprint import Fingerprint
from runner.sandbox.backends.base import Aftermath, BackendFacts, Execution, PairTimes, Side
from runner.sandbox.backends.docker.run import DockerRun
from runner.sandbox.backends.docker.session import DockerSession
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline
from runner.sandbox.exit import StopReason
from runner.sandbox.output import OutputPair


class UntilGreeted:
    """A deadline in three parts: for the driver's own start, for the target's first answer, for the work."""

    def __init__(self, times: PairTimes, output: OutputPair) -> None:
        self._output = output
        self._coming = [(times.launched, times.start), (times.greeting, times.run)]
        self._deadline = Deadline.after(times.launch + times.start)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        while self._coming and self._output.stdout_begins(self._coming[0][0]):
            self._deadline = Deadline.after(self._coming.pop(0)[1])
        return self._deadline.remaining()

    @property
    def expired(self) -> bool:
        """Whether nothing is left."""
        return self.remaining() <= 0.0


class PairRun:
    """Implements PreparedRun: the driver's run, with what became of the target beside it."""

    def __init__(self, target: DockerRun, driver: DockerRun, times: PairTimes) -> None:
        self.index = driver.index
        self._target = target
        self._driver = driver
        self._times = times
        self._side: Side | None = None

    @property
    def before(self) -> Fingerprint:
        """The driver's job, read back from its volume."""
        return self._driver.before

    def execute(self) -> Execution:
        """Release the target, follow the driver to its end, stop the target. Raises SetupError."""
        over, gone = Cancel(), Cancel()
        limit = UntilGreeted(self._times, self._driver.output)
        self._target.release()
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="target") as pool:
                beside = pool.submit(self._follow_target, over, gone)
                try:
                    execution = self._driver.follow(limit, {gone: StopReason.DONE})
                finally:
                    over.throw()
                self._side = Side(self._target.before, beside.result(), Aftermath(None))
        finally:
            over.close()
            gone.close()
        return execution

    def _follow_target(self, over: Cancel, gone: Cancel) -> Execution:
        """An application that ends before it ever answered leaves the driver nothing to wait for."""
        try:
            return self._target.follow(Deadline.after(self._times.in_all), {over: StopReason.DONE})
        finally:
            if not self._driver.output.stdout_begins(self._times.greeting):
                gone.throw()

    def inspect(self) -> Aftermath:
        """Both volumes; both containers are over."""
        with ThreadPoolExecutor(1, thread_name_prefix="target") as pool:
            beside = pool.submit(self._target.inspect)
            aftermath = self._driver.inspect()
            side = self._side
            return replace(aftermath, target=replace(side, aftermath=beside.result()) if side else None)

    def discard(self) -> None:
        """Remove both."""
        with ThreadPoolExecutor(1, thread_name_prefix="target") as pool:
            beside = pool.submit(self._target.discard)
            try:
                self._driver.discard()
            finally:
                beside.result()


class PairSession:
    """Implements Session over a session for targets and one for drivers."""

    def __init__(self, targets: DockerSession, drivers: DockerSession, times: PairTimes) -> None:
        self._targets = targets
        self._drivers = drivers
        self._times = times

    def prepare(self, index: int) -> PairRun:
        """Start the driver, and the target in its network; release the driver, while the target is still seeded."""
        with ExitStack() as stack, ThreadPoolExecutor(1, thread_name_prefix="target") as pool:
            stack.enter_context(self._targets.preparing())
            stack.enter_context(self._drivers.preparing())
            self._drivers.open_group(index)
            pool.submit(self._targets.open_group, index)
            started = self._drivers.start(index)
            joined = pool.submit(self._targets.start, index)
            beside = pool.submit(self._seed_target, joined)
            try:
                driver = self._drivers.seed(started)
                wait([joined])  # the network of a driver that is over cannot be joined any more
                driver.release()
            except BaseException:
                if beside.exception() is None:
                    beside.result().discard()
                raise
            try:
                target = beside.result()
            except BaseException:
                driver.discard()
                raise
            return PairRun(target, driver, self._times)

    def _seed_target(self, started: Future[DockerRun]) -> DockerRun:
        return self._targets.seed(started.result())

    def facts(self) -> BackendFacts:
        """The engine's, with what the target's stewards proved so far."""
        return self._targets.facts()

    def cancel(self) -> None:
        """End everything of both sessions; safe from any thread."""
        self._targets.cancel()
        self._drivers.cancel()
