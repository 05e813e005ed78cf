"""Run directories: written beside their final place, then renamed, so nobody ever sees half of one."""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from runner.errors import SetupError, UsageError, printable
from runner.evidence.files import write_atomically
from runner.evidence.leftovers import PARTIAL_SUFFIX, hold, sweep_partial
from runner.evidence.observation import Observation, Stream
from runner.evidence.result import Result

DEFAULT_ROOT = Path(".runner/runs")
_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600
_GRACE_SECONDS = 60.0


def new_run_id(now: datetime | None = None) -> str:
    """``run_YYYYMMDD_HHMMSS_xxxx`` in UTC; the random part is long enough that ids never collide."""
    moment = now or datetime.now(UTC)
    return f"run_{moment:%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"


class RunDirectory:
    """The evidence of one replay while it is being gathered. Use as a context manager: without
    :meth:`finish`, leaving it removes everything.
    """

    def __init__(self, run_id: str, out: Path | None = None) -> None:
        self.path = (out if out is not None else DEFAULT_ROOT / run_id).absolute()
        self._partial = self.path.parent / f".{run_id}{PARTIAL_SUFFIX}"
        self._held = -1

    def __enter__(self) -> Self:
        """Raises UsageError when the place cannot be ours."""
        name = printable(str(self.path))
        if os.path.lexists(self.path) and not _is_empty_directory(self.path):
            raise UsageError(f"{name}: exists and is not an empty directory",
                             hint="name a new directory with --out")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
            sweep_partial(self.path.parent, _GRACE_SECONDS)
            self._partial.mkdir(mode=_DIRECTORY_MODE)
            self._held = hold(self._partial)
        except OSError as error:
            raise UsageError(f"{name}: cannot be made: {error.strerror}", hint="choose a place with --out") from None
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)
        os.close(self._held)

    def keep(self, observation: Observation) -> Observation:
        """Write a run's output and artifacts; returns the observation without their bytes, so that memory
        stays flat however many runs there are.
        """
        index = observation.index
        self._write_stream(f"stdout-{index}.bin", observation.stdout)
        self._write_stream(f"stderr-{index}.bin", observation.stderr)
        for number, artifact in enumerate(observation.artifacts, 1):
            self.write(f"artifacts/run-{index}/{number:04d}.bin", artifact.data)
        return replace(observation, stdout=_without_bytes(observation.stdout),
                       stderr=_without_bytes(observation.stderr))

    def _write_stream(self, name: str, stream: Stream) -> None:
        if stream.bytes:
            self.write(name, stream.kept)

    def write(self, name: str, data: bytes) -> None:
        """Write one file of the evidence; ``name`` is ours, never a name from the payload. Raises SetupError."""
        target = self._partial / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            raise SetupError(f"the evidence cannot be written to {printable(str(self.path))}: {error.strerror}",
                             hint="make room, or choose another place with --out") from None

    def finish(self, result: Result) -> Path:
        """Write the result and put the directory in its place. Raises UsageError, SetupError."""
        write_atomically(self._partial / "result.json", (result.to_json(indent=2) + "\n").encode())
        try:
            self._partial.replace(self.path)
        except OSError as error:
            raise UsageError(f"{printable(str(self.path))}: cannot be written: {error.strerror}",
                             hint="is something else writing there?") from None
        return self.path


def _is_empty_directory(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir() and not any(path.iterdir())


def _without_bytes(stream: Stream) -> Stream:
    return replace(stream, head=b"", tail=b"")
