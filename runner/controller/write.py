"""A recording, written down as a report of either format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from runner import __version__
from runner.bundle.layout import SUFFIX
from runner.bundle.pack import pack
from runner.case import RecordedExecution
from runner.controller.record import Recording
from runner.evidence.files import write_atomically
from runner.images.lock import read_lock
from runner.payload.treehash import TreeHashes, sealed_tree_hashes
from runner.resources import data_dir
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.modes import modes_of
from runner.sources.native.write import write_native
from runner.sources.repomin.write import write_repomin

_TOOLS = ("coreutils", "dash", "git", "libc6", "nodejs", "python3")
ReportFormat = Literal["native", "repomin"]


def write_report(recording: Recording, form: ReportFormat, path: Path) -> None:
    """Write the report to ``path``, whole or not at all; a name that ends in ``.repro`` gets a bundle of report and
    payload. Raises UsageError, ReportError, BundleRefused, PayloadChanged, SetupError.
    """
    tree = sealed_tree_hashes(recording.sealed) if form == "repomin" else None
    draft = _draft(recording, tree)
    report = write_repomin(draft) if form == "repomin" else write_native(draft)
    if path.suffix == SUFFIX:
        pack(report, recording.sealed, path, report_path=str(path))
    else:
        write_atomically(path, report, mode=0o644)


def _draft(recording: Recording, tree: TreeHashes | None) -> ReportDraft:
    sealed, runs = recording.sealed, len(recording.observations)
    name = Path(recording.request.payload).absolute().name
    return ReportDraft(
        created=recording.created.isoformat(timespec="seconds").replace("+00:00", "Z"),
        tool_version=__version__, workload=recording.request.workload, contract=recording.contract,
        payload=RecordedTree(name=name, files=sealed.files, bytes=sealed.bytes,
                             entries=sealed.fingerprint.entries, exact=sealed.fingerprint.exact,
                             content=sealed.fingerprint.content, tree_exact=tree.exact if tree else None,
                             tree_content=tree.content if tree else None, modes=modes_of(sealed.manifest)),
        environment=recording.environment, execution=_execution(recording),
        baseline=Baseline(runs=runs, matched=runs, exit_code=recording.exit_code))


def _execution(recording: Recording) -> RecordedExecution:
    return RecordedExecution(
        backend=recording.request.backend, image=_pin(recording.image), network="none",
        timeout_seconds=recording.timeout, policy_name=recording.policy.name,
        policy_sha256=recording.policy.digest(), limits=recording.request.limits)


def _pin(image: ResolvedImage | None) -> ImagePin | None:
    if image is None:
        return None
    manifest = image.digests[0] if image.digests else ""
    return ImagePin(id=image.id, name=image.name, platform=image.platform, manifest=manifest,
                    tools=_tools(image))


def _tools(image: ResolvedImage) -> tuple[tuple[str, str], ...]:
    """Versions of what a command is likely to use, where we know them: in our own images."""
    record = read_lock(data_dir("images")).by_digest(image.id)
    packages = record.packages if record is not None else {}
    return tuple((name, packages[name]) for name in _TOOLS if name in packages)
