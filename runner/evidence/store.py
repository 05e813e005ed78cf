"""Run directories: written beside their final place, then renamed, so nobody ever sees half of one."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from runner.errors import SetupError, UsageError, printable
from runner.evidence.events import START, Event, EventKind
from runner.evidence.files import write_atomically
from runner.evidence.leftovers import PARTIAL_SUFFIX, hold, sweep_partial
from runner.evidence.observation import Artifact, Observation, Stored, Stream
from runner.evidence.result import EventsRecord, Result

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

    ``confirm`` is handed each event before :meth:`record` returns: it makes the event last.
    """

    def __init__(self, run_id: str, out: Path | None = None,
                 confirm: Callable[[Event], None] = lambda _: None) -> None:
        self.path = (out if out is not None else DEFAULT_ROOT / run_id).absolute()
        self._run_id = run_id
        self._confirm = confirm
        self._events = EventsRecord(count=0, head=START)
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
        return replace(observation, stdout=self._keep_stream(f"stdout-{observation.index}.bin", observation.stdout),
                       stderr=self._keep_stream(f"stderr-{observation.index}.bin", observation.stderr),
                       artifacts=tuple(self._keep_artifact(item) for item in observation.artifacts))

    def _keep_stream(self, name: str, stream: Stream) -> Stream:
        data = stream.kept
        if stream.bytes:
            self.write(name, data)
        return replace(stream, head=b"", tail=b"", stored=_stored(data))

    def _keep_artifact(self, artifact: Artifact) -> Artifact:
        """Under the name of its digest, so that what several runs left alike is there once."""
        stored = _stored(artifact.data)
        name = f"artifacts/{stored.sha256}"
        if not (self._partial / name).exists():
            self.write(name, artifact.data)
        return replace(artifact, data=b"", stored=stored)

    def record(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        """Append an event to the log. Raises SetupError."""
        last = self._events
        event = Event(self._run_id, last.count + 1, now(), kind, dict(data), last.head)
        self._append("events.jsonl", event.line() + b"\n")
        self._confirm(event)
        self._events = EventsRecord(count=event.seq, head=event.digest())

    def write(self, name: str, data: bytes) -> None:
        """Write one file of the evidence; ``name`` is ours, never a name from the payload. Raises SetupError."""
        self._put(name, data, os.O_EXCL)

    def _append(self, name: str, data: bytes) -> None:
        self._put(name, data, os.O_APPEND)

    def _put(self, name: str, data: bytes, flags: int) -> None:
        target = self._partial / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, _FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            raise SetupError(f"the evidence cannot be written to {printable(str(self.path))}: {error.strerror}",
                             hint="make room, or choose another place with --out") from None

    def finish(self, result: Result) -> Result:
        """Close the log, write the result and put the directory in its place; returns what was written.

        Raises UsageError, SetupError.
        """
        self.record("replay.judged", {"verdict": result.verdict, "exit_code": result.exit_code,
                                      "reasons": list(result.reasons), "result_sha256": result.core_sha256()})
        result = result.model_copy(update={"events": self._events})
        write_atomically(self._partial / "result.json", (result.to_json(indent=2) + "\n").encode())
        try:
            self._partial.replace(self.path)
        except OSError as error:
            raise UsageError(f"{printable(str(self.path))}: cannot be written: {error.strerror}",
                             hint="is something else writing there?") from None
        return result


def now() -> str:
    """This moment: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_empty_directory(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir() and not any(path.iterdir())


def _stored(data: bytes) -> Stored:
    return Stored(bytes=len(data), sha256=sha256(data).hexdigest())
