"""The evidence as GitHub-flavoured Markdown: verdict first, then why, what drifted, each run, what changed.

Every text that is not ours stands in a code span or a fence, where nothing is a link, a mention, an image or HTML.
In a table a ``|`` in such a text is shown as its escape, since renderers disagree on how to write one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from runner.evidence.check import Evidence
from runner.evidence.parts import ChangeRecord
from runner.evidence.result import Result, Sample
from runner.reports.load_markdown import assertion_table, load_parts
from runner.reports.markup import code, fenced
from runner.reports.session_markdown import session_output, session_parts
from runner.reports.session_words import is_recording
from runner.reports.tables import MOST_LISTED, cell, listed, more, short, table
from runner.reports.words import counted, ended, excerpt, finite, headline, reasons, refusal, replay_command

_MAX_CHANGES = 50
_MAX_OUTPUT = 4_000
"""Changes of a run; bytes of a stream. ``result.json`` has them all."""


def render_markdown(evidence: Evidence) -> str:
    """One page for a person, to be pasted into an issue."""
    result = evidence.result
    session = session_parts(result, result.session) if result.session is not None else ()
    load = load_parts(result, result.load) if result.load is not None else ()
    parts = (_verdict(result), *session, *load, _drift(result), _runs(result), _changes(result), _output(evidence),
             _policy(result), _place(result), _evidence(evidence), _replay(result))
    return "\n\n".join("\n".join(part) for part in map(tuple, parts) if part) + "\n"


def _verdict(result: Result) -> Iterator[str]:
    yield f"# {headline(result)}: {counted(result)}"
    yield ""
    if result.load is not None:
        yield from assertion_table(result)
    elif result.session is None:
        yield from table(("Command", "Expected"), [(result.command, _expected(result))])
    else:
        yield from table(("Application", "Opened"), [(result.command, result.session.url)])
    yield from listed("Why", reasons(result))
    yield from listed("Warnings", result.warnings)


def _expected(result: Result) -> str:
    contract = result.contract
    parts = [] if contract.exit_code is None else [f"exit code {contract.exit_code}"]
    if contract.match:
        parts.append(f"output matching {contract.match}")
    if contract.signature is not None:
        parts.append(f"{contract.signature.get('kind')} signature {_signature(contract.signature)}")
    return ", ".join(parts) or "an exit code other than 0"


def _signature(fields: dict[str, object]) -> str:
    if "class" not in fields:
        return f"{fields.get('process_kind')} {fields.get('code')}"
    return f"{fields['class']}: {fields['message']}" if fields.get("message") else str(fields["class"])


def _drift(result: Result) -> Iterator[str]:
    yield "## Drift"
    yield ""
    if is_recording(result):
        yield "None: this is the recording."
        return
    if not result.drift and not result.mode_drift:
        yield "None: the load had no network but loopback." if result.load is not None else \
            "None: it was replayed as it was recorded."
        return
    rows = [(row.what, row.recorded or "nothing", row.used or "nothing") for row in result.drift]
    rows += [("mode", row.path, row.detail) for row in result.mode_drift[:MOST_LISTED]]
    yield from table(("What", "Recorded", "Used"), rows)
    yield from more(len(result.mode_drift) - MOST_LISTED, "entries with other mode bits")


def _runs(result: Result) -> Iterator[str]:
    yield "## Runs"
    yield ""
    if not result.samples:
        yield "No run was finished."
        return
    yield "| Run | Accepted | Ended | Outcome | Wall (s) | CPU (s) | Peak memory | Why not |"
    yield "|--:|---|---|---|--:|--:|--:|---|"
    for sample in result.samples:
        yield _run(sample)


def _run(sample: Sample) -> str:
    cpu = "" if sample.cpu_seconds is None else f"{finite(sample.cpu_seconds):.3f}"
    memory = "" if sample.peak_memory is None else f"{sample.peak_memory / (1 << 20):.1f} MiB"
    why = "" if sample.accepted else cell(refusal(sample))
    return (f"| {sample.index} | {'yes' if sample.accepted else 'no'} | {cell(ended(sample))} | "
            f"{cell(sample.outcome)} | {finite(sample.wall_seconds):.3f} | {cpu} | {memory} | {why} |")


def _changes(result: Result) -> Iterator[str]:
    yield "## Changes to the payload"
    yield ""
    if result.load is not None and not result.payload:
        yield "None: no copy of a payload was used."
        return
    alike: dict[tuple[tuple[ChangeRecord, ...], str], list[int]] = {}
    for sample in result.samples:
        side = sample.target or sample
        alike.setdefault((side.changes, side.changes_note), []).append(sample.index)
    if set(alike) <= {((), "")}:
        yield "None: every run left its copy as it was."
        return
    for number, ((changes, note), runs) in enumerate(list(alike.items())[:MOST_LISTED]):
        if number:
            yield ""
        why = f" ({code(short(note))})" if note else ""
        yield f"**{_numbers(runs)}**: {len(changes) or 'nothing'} changed{why}"
        if changes:
            yield ""
            rows = [(change.kind, change.path, change.detail) for change in changes[:_MAX_CHANGES]]
            yield from table(("Kind", "Path", "Detail"), rows)
            yield from more(len(changes) - _MAX_CHANGES, "changes")
    yield from more(len(alike) - MOST_LISTED, "different lists of changes")


def _numbers(runs: list[int]) -> str:
    if len(runs) == 1:
        return f"Run {runs[0]}"
    if runs == list(range(runs[0], runs[-1] + 1)):
        return f"Runs {runs[0]} to {runs[-1]}"
    shown = ", ".join(map(str, runs[:MOST_LISTED]))
    return f"Runs {shown}" + (f" and {len(runs) - MOST_LISTED} more" if len(runs) > MOST_LISTED else "")


def _output(evidence: Evidence) -> Iterator[str]:
    """Of the first run that was not accepted, else of the first."""
    samples = evidence.result.samples
    chosen = next((sample for sample in samples if not sample.accepted), samples[0] if samples else None)
    if chosen is None:
        return
    if chosen.session is not None or chosen.target is not None:
        yield from session_output(evidence, chosen)
        yield ""
        driver = "load driver" if evidence.result.load is not None else "browser's driver"
        yield f"## Output of the {driver} in run {chosen.index}"
    else:
        yield f"## Output of run {chosen.index}"
    for name, raw in (("stdout", evidence.output(chosen, "stdout")), ("stderr", evidence.output(chosen, "stderr"))):
        yield ""
        if raw:
            yield f"{name}:"
            yield ""
            yield from fenced(excerpt(raw, _MAX_OUTPUT).expandtabs().removesuffix("\n").split("\n"))
        else:
            yield f"{name}: nothing"


def _policy(result: Result) -> Iterator[str]:
    policy = result.policy
    yield "## Policy"
    yield ""
    yield from table(("Setting", "Value"), [
        ("name", policy.name), ("sha256", policy.sha256), ("seccomp sha256", policy.seccomp_sha256),
        *((name, json.dumps(value, sort_keys=True)) for name, value in sorted(policy.effective.items())
          if name not in {"name", "seccomp"})])


def _place(result: Result) -> Iterator[str]:
    """Image and engine."""
    engine, image = result.engine, result.image
    yield "## Image and engine"
    yield ""
    rows = [("backend", f"{result.backend} (recorded: {result.recorded_backend})"),
            ("boundary", str(engine.get("boundary", "")))]
    if image is not None:
        rows += [("image", image.used_id), ("recorded image", image.recorded_id or "none"), ("image name", image.name),
                 ("image found by", image.matched), ("platform", image.platform)]
    for name in ("product", "version", "runtime", "enforced", "not_enforced", "differences"):
        value = engine.get(name)
        if value:
            rows.append((name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)))
    yield from table(("What", "Value"), rows)


def _evidence(evidence: Evidence) -> Iterator[str]:
    result = evidence.result
    yield "## Evidence"
    yield ""
    yield from table(("What", "Value"), [
        ("run", result.run_id), ("started", result.started), ("finished", result.finished),
        ("report sha256", result.report_sha256),
        *([("bundle sha256", result.bundle_sha256)] if result.bundle_sha256 else []),
        ("payload fingerprint", f"{result.payload_fingerprint.exact} (verified: {result.fingerprint_mode})"),
        ("result sha256", result.core_sha256()),
        *([("event log", f"{result.events.count} events, head {result.events.head}")] if result.events else []),
        ("made by", " ".join(map(str, result.tool.values())))])


def _replay(result: Result) -> Iterator[str]:
    yield "## Replay it"
    yield ""
    yield from fenced([replay_command(result)], "sh")
