"""What a backend is: the only door between the controller and a place where untrusted code runs.

One line of calls, the same for every backend::

    backend.probe()                    -> BackendFacts
    backend.resolve_image(wanted)      -> ResolvedImage | None
    with backend.open(plan, sealed) as session:      the sealed payload is put, once
        run = session.prepare(k)       -> PreparedRun     a fresh copy, proved equal to the seal; nothing ran
        run.execute()                  -> Execution       released, pumped to its end, classified
        run.inspect()                  -> Aftermath       what changed, declared artifacts, fullness
        run.discard()                                     nothing of run k is left
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from runner.evidence.observation import Artifact, Stream, Workspace
from runner.payload.fingerprint import Change, Fingerprint
from runner.payload.seal import SealedPayload
from runner.sandbox.exit import ExitStatus
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sandbox.policy import Policy

CLEANUP_INCOMPLETE = "some of it could not be removed; the next sweep will"
"""Note on an exception that leaves a session whose clean-up failed as well."""


_AFTERWARDS = 60.0
"""Seconds in which a driver that is told to end has ended for sure."""


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """What was found out about the place where code will run; all of it goes into the evidence.

    ``enforced`` and ``not_enforced`` name limits of the policy. ``store`` is ``overlay`` or ``containerd``
    (which digest an image ID is), ``memory`` the host's bytes, ``boundary`` what stands between the code and the host,
    ``kernel`` the release of the host's kernel.
    ``product`` is what the engine says it is, ``differences`` what this one does not do or tell, in plain sentences.
    ``reached`` is the way to it: ``unix`` (a socket), ``tcp`` or ``tcp+tls``.
    """

    backend: str
    version: str = ""
    api_version: str = ""
    platform: str = ""
    store: str = ""
    cgroup: str = ""
    rootless: bool = False
    userns_remap: bool = False
    memory: int = 0
    runtimes: tuple[str, ...] = ()
    boundary: str = ""
    enforced: tuple[str, ...] = ()
    not_enforced: tuple[str, ...] = ()
    kernel: str = ""
    product: str = ""
    differences: tuple[str, ...] = ()
    reached: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a session needs to know, decided before anything starts.

    ``env`` is what the workload gets besides the image's own; its values may be secrets and are never part
    of a container's configuration. ``timeout`` is seconds per run. ``ahead`` runs are made ready early. ``grace`` is
    how many seconds a run that is cancelled has, after a TERM, to undo what it did outside: none, unless it is our own
    driver on a network.
    """

    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...] = field(repr=False)
    policy: Policy
    timeout: float
    runs: int
    jobs: int = 1
    ahead: int = 2
    image: ResolvedImage | None = None
    network: str = "none"
    shell_speaks: bool = False
    working_copy: str = "repository"
    artifacts: tuple[str, ...] = ()
    grace: float = 0.0


@dataclass(frozen=True, slots=True)
class Execution:
    """A run from its release to its end. Seconds and bytes; ``None`` where the boundary hides a figure.

    ``root`` is the absolute path of the work tree as the workload saw it.
    """

    status: ExitStatus
    stdout: Stream
    stderr: Stream
    output_sha256: str
    wall_seconds: float
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    root: str = "/workspace"


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The work tree after the run, compared with what was sealed."""

    after: Fingerprint | None
    changes: tuple[Change, ...] = ()
    note: str = ""
    artifacts: tuple[Artifact, ...] = ()
    workspace: Workspace = Workspace.UNKNOWN
    target: Side | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One workload of a run, from its release to its end, and what it left."""

    before: Fingerprint
    execution: Execution
    aftermath: Aftermath


@dataclass(frozen=True, slots=True)
class PairTimes:
    """Seconds that a driver has to get ready, then to get an answer from the target, then to do its work.

    ``launched`` are the first bytes on the driver's stdout, once it is ready; ``greeting`` those it has said once the
    target has answered. The time for the answer begins when the target is released and the driver is ready.
    """

    launch: float
    start: float
    run: float
    launched: bytes
    greeting: bytes

    @property
    def in_all(self) -> float:
        """Seconds after which a target ends at the latest."""
        return self.launch + self.start + self.run + _AFTERWARDS


class PreparedRun(Protocol):
    """One run: ready, then executed once, inspected, discarded."""

    @property
    def index(self) -> int:
        """Counts from 1."""

    @property
    def before(self) -> Fingerprint:
        """Fingerprint read back from the fresh copy; equal to the seal."""

    def execute(self) -> Execution:
        """Release the workload and follow it to its end. Raises SetupError when the engine fails."""

    def inspect(self) -> Aftermath:
        """Look at the tree the workload left; only after :meth:`execute`."""

    def discard(self) -> None:
        """Remove everything of this run. Safe to call at any point and more than once."""


class Session(Protocol):
    """One sealed payload, held for all runs of a replay."""

    def prepare(self, index: int) -> PreparedRun:
        """Make run ``index`` (from 1) ready. Raises SeedMismatch when the copy is not what was sealed."""

    def facts(self) -> BackendFacts:
        """What the backend found out, with what this session has proved by now; it never waits."""

    def cancel(self) -> None:
        """End everything that runs, from any thread; running calls return soon with cause ``cancelled``."""


class Backend(Protocol):
    """A place where untrusted code can run."""

    @property
    def name(self) -> str:
        """``docker``, ``host`` or ``fake``."""

    def probe(self) -> BackendFacts:
        """Find out what is there. Raises EngineUnavailable."""

    def resolve_image(self, wanted: ImagePin | str | None) -> ResolvedImage | None:
        """The image to use: by pin (ID), or by a name a person gave. Never pulls. ``None``: no images here.

        Raises ImageUnavailable.
        """

    def open(self, plan: Plan, sealed: SealedPayload) -> AbstractContextManager[Session]:
        """Put the sealed payload, once; on exit nothing is left. Raises SetupError.

        When the body raises and the clean-up fails too, the body's exception passes with the note
        :data:`CLEANUP_INCOMPLETE`.
        """


class PairBackend(Backend, Protocol):
    """A backend that can run an application and the driver of a browser side by side."""

    def own_image(self, name: str) -> ResolvedImage:
        """One of our own images, as its recipe now stands. Raises ImageUnavailable."""

    def open_pair(self, target: Plan, payload: SealedPayload, driver: Plan, job: SealedPayload,
                  times: PairTimes) -> AbstractContextManager[Session]:
        """Put both; each run has one of each, which share loopback and nothing else. Raises SetupError."""
