"""Run directories and their place in the index: gathered beside their final place, confirmed step by step.

The order is what makes it safe to be killed at any write. Files are on the disk before the event that names them is
in the index, and an event is in the index before anybody is told. So a run that was reported is never lost, and what
was not reported is never shown as whole.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from runner.errors import Interrupted, RunnerError
from runner.evidence.database import store_root
from runner.evidence.events import START, Event, EventKind
from runner.evidence.gathering import Gathering
from runner.evidence.index import Closing, Index, Opening
from runner.evidence.mask import Masker
from runner.evidence.observation import Artifact, Observation, Stored, Stream
from runner.evidence.recovery import closing_of, now, reconcile, size_of
from runner.evidence.removal import finish_removals
from runner.evidence.result import EventsRecord, Result

_LOG = "events.jsonl"


def new_run_id(moment: datetime | None = None) -> str:
    """``run_YYYYMMDD_HHMMSS_xxxxxxxx`` in UTC; the random part is long enough that ids never collide."""
    return f"run_{moment or datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"


def place_of_run(run_id: str, out: Path | None = None) -> Path:
    """Where the evidence of a replay goes: what a person names, else into the store."""
    return Path(os.path.abspath(out if out is not None else store_root() / "runs" / run_id))


class RunDirectory:
    """The evidence of one replay while it is being gathered. Use as a context manager.

    Left without :meth:`finish`, what was gathered is removed if a person interrupted the replay or no run was
    confirmed, and stays otherwise; the index says which.
    """

    def __init__(self, opening: Opening, masker: Masker | None = None) -> None:
        self._masker = masker or Masker()
        self._opening = opening._replace(command=self._masker.text(opening.command),
                                         report=self._masker.text(opening.report))
        self.path = Path(os.fsdecode(opening.directory))
        self._files = Gathering(self.path, opening.run_id)
        self._log = EventsRecord(count=0, head=START)
        self._index: Index
        self._judged = self._finished = False
        self._closing: Closing | None = None

    def __enter__(self) -> Self:
        """Raises UsageError when the store or the place cannot be ours."""
        self._index = Index(store_root())
        try:
            reconcile(self._index)
            finish_removals(self._index)
            self._files.make()
        except BaseException:
            self._index.__exit__()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if self._finished:
                return
            if self._closing is not None:
                self._try_again(self._closing)
            else:
                self._abandon(interrupted=kind is not None and issubclass(kind, Interrupted | KeyboardInterrupt))
        finally:
            self._files.release()
            self._index.__exit__()

    def begin(self, *events: tuple[EventKind, Mapping[str, Any]]) -> None:
        """Enter the replay in the index, with its first events, before anything runs. Raises RunnerError."""
        made = [self._next(kind, data) for kind, data in events]
        self._index.register(self._opening, made)

    def keep(self, observation: Observation) -> Observation:
        """Write a run's output and artifacts, masked; returns the observation without their bytes, so that memory
        stays flat however many runs there are.
        """
        target = observation.target
        return replace(self._keep_run(observation, ""),
                       target=self._keep_run(target, "target-") if target is not None else None)

    def _keep_run(self, seen: Observation, whose: str) -> Observation:
        return replace(seen, stdout=self._keep_stream(f"{whose}stdout-{seen.index}.bin", seen.stdout),
                       stderr=self._keep_stream(f"{whose}stderr-{seen.index}.bin", seen.stderr),
                       artifacts=tuple(self._keep_artifact(item) for item in seen.artifacts))

    def _keep_stream(self, name: str, stream: Stream) -> Stream:
        data, masked = self._masker.stream(stream.head, stream.tail, truncated=stream.truncated)
        if stream.bytes:
            self._files.write(name, data)
        return replace(stream, head=b"", tail=b"", stored=_stored(data, masked))

    def _keep_artifact(self, artifact: Artifact) -> Artifact:
        """Under the name of its digest, so that what several runs left alike is there once."""
        data, masked = self._masker.data(artifact.data)
        stored = _stored(data, masked)
        name = f"artifacts/{stored.sha256}"
        if not self._files.has(name):
            self._files.write(name, data)
        return replace(artifact, data=b"", stored=stored)

    def write(self, name: str, data: bytes) -> None:
        """Write one file of the evidence as it is; ``name`` is ours. Raises SetupError."""
        self._files.write(name, data)

    def record(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        """Confirm an event, and with it the files that it names. Raises RunnerError."""
        event = self._next(kind, data)
        self._files.sync()
        self._index.append(event)
        self._judged = True

    def finish(self, result: Result) -> Result:
        """Confirm the verdict and put the directory in its place; returns what was written.

        Raises UsageError, SetupError.
        """
        result = self._masked(result)
        event = self._next("replay.judged", {"verdict": result.verdict, "exit_code": result.exit_code,
                                             "reasons": list(result.reasons),
                                             "result_sha256": result.core_sha256()})
        result = result.model_copy(update={"events": self._log})
        raw = (result.to_json(indent=2) + "\n").encode()
        self._files.write("result.json", raw)
        self._files.sync()
        closing = self._closing_of(result, raw)
        self._index.append(event)
        self._closing = closing
        self._put_in_place(closing)
        return result

    def _next(self, kind: EventKind, data: Mapping[str, Any]) -> Event:
        """The next event, in the log of the directory. Only the index makes it a fact."""
        event = Event(self._opening.run_id, self._log.count + 1, now(), kind, self._masker.document(dict(data)),
                      self._log.head)
        self._files.append(_LOG, event.line() + b"\n")
        self._log = EventsRecord(count=event.seq, head=event.digest())
        return event

    def _masked(self, result: Result) -> Result:
        document = result.model_dump(mode="json", by_alias=True)
        masked = self._masker.document(document)
        return result if masked == document else Result.model_validate(masked)

    def _closing_of(self, result: Result, raw: bytes) -> Closing:
        folder = os.open(self._files.partial, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return closing_of(result.model_dump(mode="json", by_alias=True, exclude={"samples"}), raw, size_of(folder))
        finally:
            os.close(folder)

    def _put_in_place(self, closing: Closing) -> None:
        """Complete what is confirmed as a whole."""
        if self._files.partial.exists():
            self._files.put_in_place()
        self._index.finish(self._opening.run_id, closing)
        self._finished = True

    def _try_again(self, closing: Closing) -> None:
        """The verdict is confirmed, its place was taken. The error is on its way already; nothing is removed."""
        try:
            self._put_in_place(closing)
        except RunnerError:
            with suppress(RunnerError):  # the store may be what has failed
                self._index.end(self._opening.run_id, "failed", now())

    def _abandon(self, *, interrupted: bool) -> None:
        with suppress(RunnerError):  # the store may be what has failed
            self._index.end(self._opening.run_id, "interrupted" if interrupted else "failed", now())
        if interrupted or not self._judged:
            self._files.remove()


def _stored(data: bytes, masked: int) -> Stored:
    return Stored(bytes=len(data), sha256=sha256(data).hexdigest(), masked=masked)
