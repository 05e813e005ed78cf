"""The verdict for a person at a terminal. A pure function of the evidence."""

from __future__ import annotations

from runner.errors import printable
from runner.evidence.result import Result
from runner.reports.load_text import load_lines
from runner.reports.session_text import session_lines
from runner.reports.words import counted, headline, reasons

_SHOWN = 5


def render_text(result: Result, directory: str) -> str:
    """Verdict first, then why, then where the evidence is."""
    lines = [f"{headline(result)}: {counted(result)}"]
    lines += _about(result)
    if result.payload:
        lines.append(f"fingerprint  {_fingerprint(result)}")
    if result.image is not None:
        lines.append(f"image        {result.image.used_id} ({result.image.name or 'unnamed'})")
    lines.append(f"policy       {result.policy.name} {result.policy.sha256[:12]}, {result.engine['boundary']}")
    if result.engine.get("differences"):
        lines.append(f"engine       {_engine(result)}")
    lines += [f"why          {reason}" for reason in _reasons(result)]
    lines += [f"warning      {note}" for note in result.warnings]
    lines += [f"mode         {row.path}: {row.detail}" for row in result.mode_drift[:_SHOWN]]
    lines += [f"drift        {row.what}: recorded {row.recorded}, used {row.used}" for row in result.drift]
    lines += _changes(result)
    lines.append(f"evidence     {directory}")
    return "\n".join(map(printable, lines))


def _about(result: Result) -> list[str]:
    if result.load is not None:
        return load_lines(result, result.load)
    return _command(result) if result.session is None else session_lines(result, result.session)


def _reasons(result: Result) -> tuple[str, ...]:
    """Of a session or a load run, only what is not told above already."""
    if result.verdict == "reproduced":
        return ()
    if result.load is not None:
        rows = {f"{row.id}: {row.reason}" for row in result.assertions or ()}
        return tuple(reason for reason in reasons(result) if reason not in rows)
    if result.session is not None and result.session.failures and result.verdict != "recorded":
        return ()
    told = {sample.detail for sample in result.samples} if result.session is not None else set()
    return tuple(reason for reason in reasons(result) if reason in result.reasons and reason not in told)


def _command(result: Result) -> list[str]:
    return [f"command      {result.command}", f"backend      {result.backend} (recorded: {result.recorded_backend})"]


def _engine(result: Result) -> str:
    """Only of an engine that is not like the usual one: what differs is in the evidence, and in docs/engines.md."""
    engine = result.engine
    return (f"{engine.get('product', '')} {engine['version']}: {len(engine['differences'])} differences from Docker, "
            "listed in result.json")


def _fingerprint(result: Result) -> str:
    digest = result.payload_fingerprint.exact[:12]
    said = {"exact": "exact: contents, modes and times", "content": "content: paths and contents",
            "unavailable": "not recorded, only counts compared" if result.session is None else "not recorded",
            "changed": "another payload than the recorded one"}[result.fingerprint_mode]
    return f"{digest}, {said}"


def _changes(result: Result) -> list[str]:
    driven = result.session is not None or result.load is not None
    if driven or not result.samples or not result.samples[0].changes:
        return []
    sample = result.samples[0]
    shown = [f"{change.kind} {change.path}" for change in sample.changes[:_SHOWN]]
    more = len(sample.changes) - len(shown)
    return [f"changed      run {sample.index}: {', '.join(shown)}" + (f" and {more} more" if more else "")]
