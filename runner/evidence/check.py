"""Reading a run directory back: every digest in it is recomputed, and nothing that disagrees is used.

What this proves: no part was changed without the others. Somebody who rewrites all parts consistently is found out
by the index of the store that the run belongs to (:mod:`runner.evidence.index`), or by a signature on an export.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from runner.errors import EvidenceAltered, ReportError, UsageError, printable
from runner.evidence.events import Event, EventKind, canonical, read_events
from runner.evidence.parts import FingerprintRecord, PolicyRecord, StreamRecord
from runner.evidence.result import SCHEMA, ArtifactRecord, Result, Sample
from runner.evidence.session_record import FileRecord, SessionRecord, TargetRecord
from runner.payload.fingerprint import Manifest

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_DOCUMENT = 1 << 30
_MAX_STREAM = 1 << 30
"""Bytes. Far above what a policy lets a run leave; they only keep a planted file from filling the memory."""

StreamName = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run directory that agrees with itself in every digest."""

    directory: Path
    result: Result
    events: tuple[Event, ...]

    def output(self, sample: Sample, stream: StreamName) -> bytes:
        """What is kept of a run's stream, proved again as it is read. Raises EvidenceAltered."""
        return _kept(self.directory, sample.stdout if stream == "stdout" else sample.stderr)

    def target_output(self, target: TargetRecord, stream: StreamName) -> bytes:
        """The same of the application under test in a browser session. Raises EvidenceAltered."""
        return _kept(self.directory, target.stdout if stream == "stdout" else target.stderr)

    def file(self, record: FileRecord | ArtifactRecord) -> bytes:
        """A named file of a browser session or an artifact, proved again as it is read. Raises EvidenceAltered."""
        name = record.name if isinstance(record, FileRecord) else record.file
        return _check_digest(self.directory, name, record.sha256, record.bytes)

    def manifest(self) -> Manifest:
        """The sealed payload's entries, proved again as they are read. Raises EvidenceAltered."""
        return _manifest(self.directory, self.result.payload_fingerprint)


def open_evidence(directory: Path) -> Evidence:
    """Read a run directory and recompute all of it. Raises UsageError if it is none, EvidenceAltered."""
    if not directory.is_dir() or directory.is_symlink():
        raise UsageError(f"{printable(str(directory))}: not a run directory",
                         hint="`runner runs list` shows the runs that are there")
    if not any(os.path.lexists(directory / name) for name in ("result.json", "events.jsonl")):
        raise UsageError(f"{printable(str(directory))}: not a run directory: it has no result.json",
                         hint="`runner runs list` shows the runs that are there")
    try:
        return _checked(directory)
    except EvidenceAltered as error:
        raise EvidenceAltered(f"{printable(str(directory))}: {error.message}",
                              hint=error.hint or "this evidence was altered or is damaged; replay the report again"
                              ) from None


def _checked(directory: Path) -> Evidence:
    result = _result(directory)
    if result.events is None:
        raise EvidenceAltered("result.json names no event log")
    events = read_events(_read(directory, "events.jsonl", _MAX_DOCUMENT), result.run_id)
    _check_chain(result, events)
    for sample in result.samples:
        _check_output(directory, f"run {sample.index}", sample)
        if sample.target is not None:
            _check_output(directory, f"the application of run {sample.index}", sample.target)
        for artifact in sample.artifacts:
            if artifact.file != f"artifacts/{artifact.sha256}":
                raise EvidenceAltered(f"run {sample.index}: an artifact's file is not named by its digest")
            _check_digest(directory, artifact.file, artifact.sha256, artifact.bytes)
    _manifest(directory, result.payload_fingerprint)
    _check_policy(result.policy)
    if result.session is not None:
        _check_session(directory, result.session)
    if result.load is not None:
        _check_policy(result.load.driver_policy)
        for file in result.load.files:
            _check_load_file(directory, file)
    return Evidence(directory, result, events)


def _result(directory: Path) -> Result:
    raw = _read(directory, "result.json", _MAX_DOCUMENT)
    try:
        document = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise EvidenceAltered("result.json is not JSON") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise EvidenceAltered(f"result.json is not of schema {SCHEMA}")
    try:
        result = Result.model_validate(document)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise EvidenceAltered(f"result.json does not fit its schema at {printable(where)[:200]}",
                              hint="was it written by another version?") from None
    try:
        rewritten = (result.to_json(indent=2) + "\n").encode()
    except ValueError:  # a lone surrogate: valid in JSON, in no text of ours
        rewritten = b""
    if rewritten != raw:
        raise EvidenceAltered("result.json is not as it was written")
    return result


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


def _check_chain(result: Result, events: tuple[Event, ...]) -> None:
    """The log leads to the result, and each run in the result is the run in the log."""
    assert result.events is not None
    head = events[-1].digest() if events else ""
    if (result.events.count, result.events.head) != (len(events), head):
        raise EvidenceAltered("events.jsonl does not lead to the event that result.json names")
    judged = _only(events, "replay.judged")
    if judged is not events[-1] or judged.data.get("result_sha256") != result.core_sha256():
        raise EvidenceAltered("result.json is not the result that the event log ends with")
    # The log has them as they ended, the result by their index.
    logged = sorted(canonical(event.data) for event in events if event.kind == "run.judged")
    if logged != sorted(canonical(run.model_dump(mode="json")) for run in result.samples):
        raise EvidenceAltered("the runs in result.json are not those of the event log")
    if _only(events, "payload.sealed").data != result.payload_fingerprint.model_dump():
        raise EvidenceAltered("the payload fingerprint in result.json is not that of the event log")


def _only(events: tuple[Event, ...], kind: EventKind) -> Event:
    found = [event for event in events if event.kind == kind]
    if len(found) != 1:
        raise EvidenceAltered(f"the event log has {len(found)} events {kind}, expected one")
    return found[0]


def _kept(directory: Path, stream: StreamRecord) -> bytes:
    if stream.file is None:
        return b""
    return _check_digest(directory, stream.file, stream.kept_sha256, stream.kept)


def _check_session(directory: Path, session: SessionRecord) -> None:
    """The named files, whose names are ours: none lies deeper."""
    _check_policy(session.driver_policy)
    for file in session.files:
        if "/" in file.name:
            raise EvidenceAltered(f"{printable(file.name)[:200]} is no file of a session")
        _check_digest(directory, file.name, file.sha256, file.bytes)


def _check_load_file(directory: Path, file: FileRecord) -> None:
    """One of ours lies in a folder; no other may."""
    if "/" in file.name and file.name != "events/000001.jsonl":
        raise EvidenceAltered(f"{printable(file.name)[:200]} is no file of a load run")
    _check_digest(directory, file.name, file.sha256, file.bytes)


def _check_output(directory: Path, whose: str, run: Sample | TargetRecord) -> None:
    """What is kept; and where that is all of the output as it came, the output's own digests too."""
    streams = (run.stdout, run.stderr)
    both = hashlib.sha256()
    for stream in streams:
        both.update(_kept(directory, stream))
        if stream.masked == 0 and not stream.truncated and stream.sha256 != stream.kept_sha256:
            raise EvidenceAltered(f"{whose}: two digests of the same output differ")
    whole = not any(stream.masked or stream.truncated for stream in streams)
    if whole and run.output_sha256 and both.hexdigest() != run.output_sha256:
        raise EvidenceAltered(f"{whose}: output_sha256 is not the digest of its output")


def _manifest(directory: Path, recorded: FingerprintRecord) -> Manifest:
    raw = _read(directory, "manifest.txt", _MAX_DOCUMENT)
    try:
        manifest = Manifest.parse(raw)
        found = manifest.fingerprint()
    except (ReportError, ValueError):
        raise EvidenceAltered("manifest.txt is malformed") from None
    if FingerprintRecord(**found._asdict()) != recorded:
        raise EvidenceAltered("manifest.txt is not the manifest of the payload's fingerprint")
    return manifest


def _check_policy(policy: PolicyRecord) -> None:
    fields = {**policy.effective, "seccomp_sha256": policy.seccomp_sha256}
    if hashlib.sha256(canonical(fields)).hexdigest() != policy.sha256:
        raise EvidenceAltered("the policy's digest is not that of the policy")


def _check_digest(directory: Path, name: str, sha256: str, size: int) -> bytes:
    data = _read(directory, name, _MAX_STREAM)
    if len(data) != size or hashlib.sha256(data).hexdigest() != sha256:
        raise EvidenceAltered(f"{printable(name)} is not what was kept: its digest differs")
    return data


def _read(directory: Path, name: str, limit: int) -> bytes:
    """A regular file of the run directory; its name may come from a document that was tampered with."""
    if name.startswith("/") or ".." in name.split("/"):
        raise EvidenceAltered(f"{printable(name)[:200]} leads out of the run directory")
    shown = printable(name)[:200]
    try:
        with os.fdopen(os.open(directory / name, _FLAGS), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise EvidenceAltered(f"{shown} is not a regular file")
            if facts.st_size > limit:
                raise EvidenceAltered(f"{shown} is larger than {limit} bytes")
            return file.read(limit)
    except PermissionError:
        raise UsageError(f"{printable(str(directory))}: {shown} is not for this user to read",
                         hint="ask whoever ran the replay") from None
    except OSError as error:
        raise EvidenceAltered(f"{shown} cannot be read: {error.strerror}") from None
    except ValueError:
        raise EvidenceAltered(f"{shown} is not a file name") from None
