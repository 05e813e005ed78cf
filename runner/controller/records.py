"""What was seen and decided, in the evidence's own records. Pure, and of every kind of workload."""

from __future__ import annotations

from datetime import datetime

from runner.errors import printable
from runner.evidence.observation import Artifact, Observation, Stored, Stream
from runner.evidence.parts import ChangeRecord, FingerprintRecord, ImageRecord, PolicyRecord, StreamRecord
from runner.evidence.result import ArtifactRecord, MatchRecord, Sample
from runner.evidence.session_record import TargetRecord
from runner.evidence.verdict import Judged
from runner.payload.fingerprint import Change, Fingerprint
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sandbox.policy import Policy
from runner.sandbox.seccomp import profile_sha256
from runner.sources.environment import environment_sha256


def moment(when: datetime) -> str:
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fingerprint_record(seen: Fingerprint) -> FingerprintRecord:
    """A fingerprint as evidence."""
    return FingerprintRecord(exact=seen.exact, content=seen.content, entries=seen.entries, files=seen.files,
                             bytes=seen.bytes)


def change_records(changes: tuple[Change, ...]) -> tuple[ChangeRecord, ...]:
    """Differences of two trees, printable."""
    return tuple(ChangeRecord(kind=change.kind, path=printable(change.path), detail=change.detail)
                 for change in changes)


def image_record(recorded: ImagePin | None, image: ResolvedImage) -> ImageRecord:
    """Which image was recorded and which was used."""
    pairs = [(name, value) for name, _, value in (text.partition("=") for text in image.env)]
    return ImageRecord(recorded_id=recorded.id if recorded else None, used_id=image.id, name=printable(image.name),
                       platform=image.platform, matched=image.matched,
                       environment=tuple(printable(text) for text in image.env),
                       environment_sha256=environment_sha256(pairs))


def policy_record(policy: Policy) -> PolicyRecord:
    """The policy in force."""
    return PolicyRecord(name=policy.name, sha256=policy.digest(),
                        seccomp_sha256=profile_sha256(policy.seccomp), effective=policy.model_dump(mode="json"))


def sample_of(run: Judged) -> Sample:
    """One run as evidence."""
    seen, judgement = run.observation, run.judgement
    status = seen.status
    return Sample(
        index=seen.index, outcome=judgement.outcome, accepted=judgement.accepted,
        mismatch_reason=judgement.mismatch_reason, detail=printable(judgement.detail or status.detail),
        cause=status.cause, returncode=status.returncode, engine_exit_code=status.engine_exit_code,
        signal=status.signal, signal_hint=status.signal_hint, child_oom=status.child_oom,
        timed_out=judgement.outcome == "timed_out", resource_exhausted=judgement.outcome == "resource_exhausted",
        expected_exit_code=judgement.expected_exit_code, actual_exit_code=judgement.actual_exit_code,
        duration_seconds=round(seen.wall_seconds, 4), wall_seconds=round(seen.wall_seconds, 6),
        cpu_seconds=seen.cpu_seconds, peak_memory=seen.peak_memory, output_sha256=seen.output_sha256,
        stdout=_stream(seen.stdout, f"stdout-{seen.index}.bin"),
        stderr=_stream(seen.stderr, f"stderr-{seen.index}.bin"), workspace=seen.workspace,
        volume_before=fingerprint_record(seen.before) if seen.before else None,
        volume_after=fingerprint_record(seen.after) if seen.after else None,
        changes=change_records(seen.changes), changes_note=seen.changes_note,
        artifacts=tuple(_artifact(item) for item in seen.artifacts),
        match=MatchRecord(stream=judgement.match.stream, start=judgement.match.start, end=judgement.match.end)
        if judgement.match else None, session=run.session,
        target=target_of(seen.target) if seen.target is not None else None)


def target_of(seen: Observation) -> TargetRecord:
    """The application under test in one run, as evidence."""
    status = seen.status
    return TargetRecord(
        cause=status.cause, returncode=status.returncode, signal=status.signal, child_oom=status.child_oom,
        detail=printable(status.detail), wall_seconds=round(seen.wall_seconds, 6), cpu_seconds=seen.cpu_seconds,
        peak_memory=seen.peak_memory, output_sha256=seen.output_sha256,
        stdout=_stream(seen.stdout, f"target-stdout-{seen.index}.bin"),
        stderr=_stream(seen.stderr, f"target-stderr-{seen.index}.bin"), workspace=seen.workspace,
        volume_before=fingerprint_record(seen.before) if seen.before else None,
        volume_after=fingerprint_record(seen.after) if seen.after else None,
        changes=change_records(seen.changes), changes_note=seen.changes_note)


def _stream(stream: Stream, file: str) -> StreamRecord:
    stored = _stored(stream.stored)
    return StreamRecord(bytes=stream.bytes, sha256=stream.sha256, truncated=stream.truncated, kept=stored.bytes,
                        kept_sha256=stored.sha256, masked=stored.masked, file=file if stream.bytes else None)


def _artifact(artifact: Artifact) -> ArtifactRecord:
    stored = _stored(artifact.stored)
    return ArtifactRecord(path=printable(artifact.path), file=f"artifacts/{stored.sha256}", bytes=stored.bytes,
                          sha256=stored.sha256, masked=stored.masked)


def _stored(stored: Stored | None) -> Stored:
    if stored is None:
        raise ValueError("a run is put into evidence only when its bytes are stored")
    return stored
