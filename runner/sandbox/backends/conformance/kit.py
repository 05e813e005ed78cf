"""The kit: a small payload, short ways to run something on it, and what must hold after every behaviour."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from runner.errors import RunnerError
from runner.payload.seal import SealedPayload, SealLimits, check_unchanged, seal
from runner.sandbox.backends.base import Aftermath, Backend, Execution, Plan, PreparedRun, Session
from runner.sandbox.exit import Cause
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import Policy

TIMEOUT = 60.0


class ConformanceFailure(AssertionError):
    """A backend does not show what it must."""


class Need(StrEnum):
    """What a backend must be able to do for a behaviour to be seen on it."""

    ORDER = "order"
    """Keeps the order of calls, runs or not."""
    CANCEL = "cancel"
    """Has runs that end only when cancelled."""
    COMMANDS = "commands"
    """Really runs commands."""


def _nothing(_secret: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A backend to be checked, and how to look around it from outside.

    ``leftovers`` names everything that the backend left behind (processes, directories, containers…), of this
    subject alone. ``exposures`` names the places, outside of the workload itself, where a secret can be read.
    ``backend`` gets the behaviour's name, so that a scripted backend can play it.
    """

    backend: Callable[[str], Backend]
    policy: Policy
    leftovers: Callable[[], Sequence[str]]
    shows: frozenset[Need] = frozenset(Need)
    exposures: Callable[[str], Sequence[str]] = _nothing
    image: ResolvedImage | None = None
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One thing that every backend must show. ``look`` raises ConformanceFailure."""

    name: str
    look: Callable[[Stage], None]
    needs: frozenset[Need] = frozenset({Need.COMMANDS})


class Outcome(StrEnum):
    """What came of a behaviour."""

    SHOWN = "shown"
    FAILED = "failed"
    NOT_SHOWABLE = "not_showable"


class Finding(NamedTuple):
    """A behaviour's outcome, with one line that says why where there is something to say."""

    name: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """One backend, one sealed payload, ready for a behaviour."""

    subject: Subject
    backend: Backend
    sealed: SealedPayload

    def plan(self, argv: tuple[str, ...], **changes: Any) -> Plan:
        """A plan that runs ``argv`` in the payload, with fields changed as given."""
        plan = Plan(argv=argv, cwd=".", env=self.subject.env, policy=self.subject.policy, timeout=TIMEOUT, runs=1,
                    ahead=0, image=self.subject.image)
        changes["env"] = (*self.subject.env, *changes.get("env", ()))
        return replace(plan, **changes)

    @contextmanager
    def session(self, argv: tuple[str, ...], **changes: Any) -> Iterator[Session]:
        """A session of that plan."""
        with self.backend.open(self.plan(argv, **changes), self.sealed) as session:
            yield session

    def run(self, argv: tuple[str, ...], **changes: Any) -> Execution:
        """Execute once, and discard."""
        return self.run_and_inspect(argv, **changes)[0]

    def run_and_inspect(self, argv: tuple[str, ...], **changes: Any) -> tuple[Execution, Aftermath]:
        """Execute once, look at the tree, discard."""
        with self.session(argv, **changes) as session:
            return execute_and_inspect(session.prepare(1))


def execute_and_inspect(run: PreparedRun) -> tuple[Execution, Aftermath]:
    """The rest of a prepared run's life."""
    try:
        return run.execute(), run.inspect()
    finally:
        run.discard()


def sh(script: str) -> tuple[str, ...]:
    """A shell as the main process."""
    return ("/bin/sh", "-c", script)


def expect(what: str, seen: object, wanted: object) -> None:
    """Raise ConformanceFailure unless equal."""
    if seen != wanted:
        raise ConformanceFailure(f"{what}: {seen!r} instead of {wanted!r}")


def expect_exit(execution: Execution, code: int) -> None:
    """Raise ConformanceFailure unless the command exited with ``code``; its stderr helps to see why."""
    status = execution.status
    if (status.cause, status.returncode) != (Cause.EXITED, code):
        raise ConformanceFailure(f"{status} instead of exited {code}; stderr {execution.stderr.kept[-500:]!r}")


def check(behaviour: Behaviour, subject: Subject) -> None:
    """Raise ConformanceFailure when the behaviour is not shown, leaves something, or changes the payload."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as directory:
        _make_payload(Path(directory))
        limits = subject.policy.payload
        sealed = seal(directory, SealLimits(
            files=limits.files, bytes=limits.bytes, depth=limits.depth, name_bytes=limits.name_bytes,
            path_bytes=limits.path_bytes, portable_names=limits.portable_names))
        behaviour.look(Stage(subject, subject.backend(behaviour.name), sealed))
        check_unchanged(sealed)
    left = list(subject.leftovers())
    if left:
        raise ConformanceFailure(f"left behind: {', '.join(left)}")


def examine(behaviours: Iterable[Behaviour], subject: Subject) -> Iterator[Finding]:
    """Check one after the other; errors of the backend are findings too."""
    for behaviour in behaviours:
        if not behaviour.needs <= subject.shows:
            missing = ", ".join(sorted(behaviour.needs - subject.shows))
            yield Finding(behaviour.name, Outcome.NOT_SHOWABLE, f"needs {missing}")
            continue
        try:
            check(behaviour, subject)
        except (ConformanceFailure, RunnerError) as error:
            yield Finding(behaviour.name, Outcome.FAILED, str(error))
        else:
            yield Finding(behaviour.name, Outcome.SHOWN)


def _make_payload(root: Path) -> None:
    for name, text in {"keep.txt": "kept\n", "change.txt": "before\n", "gone.txt": "soon\n",
                       "dir/deep.txt": "deep\n", "tool": "#!/bin/sh\nexit 23\n"}.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name == "tool" else 0o644)
    os.symlink("deep.txt", root / "dir" / "link")
    (root / "dir").chmod(0o755)
