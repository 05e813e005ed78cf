"""Everything the template shows, in the order it is shown. Frozen values, no markup but the output's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runner.evidence.check import Evidence
from runner.evidence.parts import ChangeRecord
from runner.evidence.result import Drift, Result
from runner.reports.html.facts import (
    Fact,
    Limit,
    claim_of,
    image_of,
    limits_of,
    payload_of,
    sandbox_of,
)
from runner.reports.html.load.read import load_of
from runner.reports.html.load.view import LoadView
from runner.reports.html.runs import Listed, Output, Row, artifacts_of, changes_of, outputs_of, rows_of
from runner.reports.html.session.read import session_of
from runner.reports.html.session.view import SessionView
from runner.reports.html.words import count, seconds, size
from runner.reports.words import counted, headline, replay_command

_MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Page:
    """One report. ``kind`` is a class of the style sheet, never text of the evidence."""

    kind: str
    eyebrow: str
    heading: str
    lead: str
    strip: tuple[Fact, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    drift: tuple[Drift, ...]
    no_drift: str
    mode_drift: tuple[ChangeRecord, ...]
    mode_drift_more: int
    command: str
    prompt: str
    claim: tuple[Fact, ...]
    rows: tuple[Row, ...]
    spread: str
    memory_limit: str
    outputs: tuple[Output, ...]
    unshown: int
    changes: tuple[Listed, ...]
    artifacts: tuple[Listed, ...]
    payload: tuple[Fact, ...]
    image: tuple[Fact, ...]
    sandbox: tuple[Fact, ...]
    limits: tuple[Limit, ...]
    events: int
    head: str
    replay: str
    needed: str
    needs_values: bool
    run_id: str
    tool: str
    started: str
    report_sha256: str
    bundle_sha256: str
    session: SessionView | None
    load: LoadView | None


def page_of(evidence: Evidence) -> Page:
    """Read the evidence into a page. Raises EvidenceAltered if an output file has changed since it was opened."""
    result = evidence.result
    outputs, numbers = outputs_of(evidence)
    session, load = session_of(evidence), load_of(evidence)
    memory = (result.load.driver_policy if result.load else result.policy).effective.get("memory")
    memory = memory if type(memory) is int else None
    heading = headline(result)
    return Page(
        kind=heading.lower().replace(" ", "-"), eyebrow=_eyebrow(result), heading=heading, lead=_lead(result),
        strip=_strip(result, session.cards if session else load.cards if load else ()),
        reasons=result.reasons, warnings=result.warnings, drift=result.drift, no_drift=_no_drift(result),
        mode_drift=result.mode_drift[:_MOST_ROWS], mode_drift_more=max(0, len(result.mode_drift) - _MOST_ROWS),
        command=result.command, prompt="" if result.load and result.load.target_command is None else "$",
        claim=() if session or load else claim_of(result),
        rows=rows_of(result, numbers, memory), spread=_spread(result),
        memory_limit=size(memory) if memory else "", outputs=outputs,
        unshown=sum(1 for sample in result.samples if sample.index not in numbers),
        changes=changes_of(() if load and not result.payload else result.samples),
        artifacts=artifacts_of(result.samples), payload=payload_of(result),
        image=image_of(result), sandbox=sandbox_of(result), limits=limits_of(result),
        events=len(evidence.events), head=result.events.head if result.events else "",
        replay=replay_command(result), needed=_needed(result), needs_values=bool(result.environment_names),
        run_id=result.run_id, tool=" ".join(result.tool.values()), started=result.started,
        report_sha256=result.report_sha256, bundle_sha256=result.bundle_sha256 or "", session=session, load=load)


def _eyebrow(result: Result) -> str:
    if result.load is not None:
        return "Load run"
    return "Replay report" if result.session is None else "Browser session"


def _no_drift(result: Result) -> str:
    if result.load is not None:
        return "Nothing: the load had no network but the loopback that it shares with the application."
    return ("Nothing: backend, image, platform, network, policy and time limit are as recorded, where the report names "
            "them.")


def _needed(result: Result) -> str:
    """What has to be there for a replay."""
    if result.load is not None:
        return "scenario and the payload are" if result.payload else "scenario is, and the application runs"
    return "bundle is" if result.bundle_sha256 else "report and the payload are"


def _lead(result: Result) -> str:
    asked = count(result.runs, "run")
    if result.load is not None:
        return f"{counted(result)}."
    if result.verdict == "recorded":
        found = len(result.session.failures) if result.session is not None else 0
        return f"The session came to its end; it showed {count(found, 'failure')}."
    if result.verdict == "reproduced":
        return f"{'The one run' if result.runs == 1 else f'All {asked}'} failed the way the report claims."
    if result.verdict == "not_reproduced":
        if result.passes == 0:
            none = "The one run did not fail" if result.runs == 1 else f"None of {asked} failed"
            return f"{none} the way the report claims."
        return f"Only {result.passes:,} of {asked} failed the way the report claims; all of them must."
    return "Nothing can be said about the claim: what was seen is not enough."


def _strip(result: Result, cards: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The head's facts; ``cards`` are those that only this kind of run has, and lead where they say how it went."""
    proved = {"exact": "exact", "content": "contents only", "unavailable": "not recorded",
              "changed": "another than recorded"}[result.fingerprint_mode]
    image = "none: the host" if result.image is None else \
        "as recorded" if result.image.matched in ("id", "manifest") else "another than recorded"
    boundary = result.engine.get("boundary")
    where = (Fact("Boundary", (boundary if isinstance(boundary, str) else "not known",)),
             Fact("Policy", (result.policy.name,)), Fact("Took", (_took(result),)))
    if result.load is not None:
        return (*cards, *where)
    return (Fact("Runs matched", (f"{result.passes:,} of {result.runs:,}",)), Fact("Payload", (proved,)),
            Fact("Image", (image,)), *where, *cards)


def _took(result: Result) -> str:
    try:
        return seconds((datetime.fromisoformat(result.finished) - datetime.fromisoformat(result.started)
                        ).total_seconds())
    except (ValueError, TypeError):
        return "not known"


def _spread(result: Result) -> str:
    """How far the runs lie apart in time, once there are enough of them to say so."""
    times = sorted(sample.wall_seconds for sample in result.samples)
    if len(times) < 3:
        return ""
    return f"Wall time {seconds(times[0])} to {seconds(times[-1])}, median {seconds(times[len(times) // 2])}"
