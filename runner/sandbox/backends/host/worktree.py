"""The fresh copy of one run on the host: made from the seal, proved, compared, removed. All by descriptor."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from typing import NamedTuple

from runner.errors import PayloadChanged, SeedMismatch, SetupError, printable
from runner.evidence.observation import Workspace
from runner.payload.access import Thaw
from runner.payload.chunks import ExactReader
from runner.payload.copy import unpack, wipe
from runner.payload.fingerprint import Fingerprint, Manifest, diff
from runner.payload.hashing import read_files
from runner.payload.seal import SealedPayload
from runner.payload.tree import Caps, Found, Problem, walk
from runner.sandbox.backends.base import Aftermath, Plan
from runner.sandbox.backends.host.artifacts import take

_DEPTH = 256
_NAME = 255
_PATH = 1 << 16
_SHOWN_PROBLEMS = 3
_PRIVATE = 0o700
_SHARED = 0o755


class _Seen(NamedTuple):
    """A look at the tree. ``complete`` is false when a cap ended it before everything was listed."""

    manifest: Manifest
    found: list[Found]
    problems: list[Problem]
    complete: bool


class WorkTree:
    """``PARENT/run-0001/NAME``: made by the constructor, NAME as in the plan. ``parent_fd`` is open on PARENT.

    Raises SeedMismatch when the copy is not what was sealed, PayloadChanged, SetupError.
    """

    def __init__(self, index: int, plan: Plan, sealed: SealedPayload, parent: str, parent_fd: int) -> None:
        self._plan = plan
        self._sealed = sealed
        self._parent_fd = parent_fd
        self._directory = f"run-{index:04d}"
        self.path = os.path.join(parent, self._directory, plan.working_copy)
        self.removed = False
        with ExitStack() as undo:
            try:
                self._run_fd = _make(self._directory, _PRIVATE, parent_fd, undo)
                self._fd = _make(plan.working_copy, _SHARED, self._run_fd, undo)
                with closing(sealed.stream()) as chunks:
                    unpack(ExactReader(chunks), self._fd, sealed.limits)
                self.before = self._prove(index)
            except OSError as error:
                raise SetupError(f"the copy for run {index} could not be made: {error.strerror}") from error
            self._open = undo.pop_all()

    def _prove(self, index: int) -> Fingerprint:
        seen = self._look()
        if seen.problems or seen.manifest.fingerprint() != self._sealed.fingerprint:
            raise SeedMismatch(f"the fresh copy of run {index} is not what was sealed",
                               hint="does the temporary directory's file system keep names, modes and times?")
        return self._sealed.fingerprint

    def _look(self) -> _Seen:
        """The tree as it is, whatever its modes; bounded by what the policy gives a work volume."""
        work, thaw = self._plan.policy.work, Thaw()
        try:
            seen = walk(self._fd, Caps(work.inodes, _DEPTH, _NAME, _PATH), thaw)
            reading = read_files(self._fd, seen.found, max_bytes=work.size, own=True)
        finally:
            thaw.restore(self._fd)
        return _Seen(Manifest(reading.entries), seen.found, [*seen.problems, *reading.problems], seen.complete)

    def aftermath(self) -> Aftermath:
        """Compare with the seal, take the artifacts. Only when nothing can write to the tree any more."""
        if self._moved():
            return Aftermath(after=None, note="the workload moved or replaced its work tree")
        try:
            seen = self._look()
            taken = take(self._fd, seen.found, self._plan.artifacts, self._plan.policy.output.artifacts)
        except (PayloadChanged, OSError):
            return Aftermath(after=None, note="the work tree could not be read as a whole")
        notes = [f"{printable(problem.path)}: {problem.rule}" for problem in seen.problems[:_SHOWN_PROBLEMS]]
        return Aftermath(
            after=seen.manifest.fingerprint() if seen.manifest.complete and not seen.problems else None,
            changes=diff(self._sealed.manifest, seen.manifest) if seen.complete else (),
            note="; ".join([*notes, *taken.notes]), artifacts=taken.artifacts, workspace=_fullness(self._fd))

    def _moved(self) -> bool:
        """Whether the path no longer leads to the directory that was made for it."""
        try:
            self._reopen()
            there = os.stat(self._plan.working_copy, dir_fd=self._run_fd, follow_symlinks=False)
        except OSError:
            return True
        return not os.path.samestat(there, os.fstat(self._fd))

    def _reopen(self) -> None:
        """The workload may have closed the directories that we made to us. Their modes are no evidence."""
        for fd, mode in ((self._parent_fd, _PRIVATE), (self._run_fd, _PRIVATE), (self._fd, _SHARED)):
            os.fchmod(fd, mode)

    def remove(self) -> None:
        """Remove the copy, of whatever modes. Safe to call more than once. Raises SetupError."""
        if self.removed:
            return
        self.removed = True
        with self._open:
            try:
                self._reopen()
                wipe(self._run_fd)
                os.rmdir(self._directory, dir_fd=self._parent_fd)
            except OSError as error:
                raise SetupError(f"{printable(self.path)} could not be removed: {error.strerror}") from error


def _make(name: str, mode: int, dir_fd: int, undo: ExitStack) -> int:
    """A new directory with exactly that mode, and a descriptor of it that ``undo`` closes."""
    os.mkdir(name, mode, dir_fd=dir_fd)
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=dir_fd)
    undo.callback(os.close, fd)
    os.fchmod(fd, mode)
    return fd


def _fullness(fd: int) -> Workspace:
    """Of the file system that holds the tree; the host gives it no cap of its own."""
    usage = os.statvfs(fd)
    if usage.f_files and not usage.f_favail:
        return Workspace.FULL_INODES
    return Workspace.ROOM if usage.f_bavail else Workspace.FULL_BYTES
