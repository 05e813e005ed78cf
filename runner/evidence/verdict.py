"""From judged runs to one verdict. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runner.errors import ExitCode
from runner.evidence.observation import Observation
from runner.evidence.session_record import SessionRun
from runner.oracles.judgement import Judgement
from runner.sandbox.exit import Cause


class VerdictKind(StrEnum):
    """What can be said: three answers to a claim; that something was recorded of which nothing is claimed yet; and the
    four answers to a load scenario.
    """

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not_reproduced"
    NO_VERDICT = "no_verdict"
    RECORDED = "recorded"
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Judged:
    """A run with what the oracle said of it. ``session`` is what a browser's driver said, ready for the evidence."""

    observation: Observation
    judgement: Judgement
    session: SessionRun | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, its exit code, and why, in plain words."""

    kind: VerdictKind
    exit_code: ExitCode
    reasons: tuple[str, ...]


_CLAMPED_CAUSES = {"memory": {Cause.OOM_KILLED}, "work": {Cause.DISK_LIMIT, Cause.OOM_KILLED},
                   "tmp": {Cause.OOM_KILLED}, "timeout": {Cause.TIMED_OUT}}


def decide(judged: tuple[Judged, ...], requested: int, clamped: frozenset[str] = frozenset()) -> Verdict:
    """All requested runs must match. ``clamped`` names limits that the report asked for and the policy lowered:
    a run that then hit one of them says nothing about the report.
    """
    accepted = sum(1 for run in judged if run.judgement.accepted)
    if len(judged) == requested and accepted == requested:
        return Verdict(VerdictKind.REPRODUCED, ExitCode.OK, (f"{accepted} of {requested} runs matched",))
    hit = tuple(_clamp_hits(judged, clamped))
    failed = [run for run in judged if not run.judgement.accepted and not _undecided(run) and run not in hit]
    reasons = tuple(_why(run) for run in judged if not run.judgement.accepted)
    if failed:
        summary = f"{accepted} of {requested} runs matched"
        return Verdict(VerdictKind.NOT_REPRODUCED, ExitCode.NOT_REPRODUCED, (summary, *reasons))
    if hit:
        reasons = (*reasons, "the report asked for more than the policy allows, and a run hit that limit")
    started = any(run.observation.status.cause is not Cause.NOT_STARTED for run in judged)
    code = ExitCode.NO_VERDICT if started else ExitCode.NOTHING_JUDGED
    return Verdict(VerdictKind.NO_VERDICT, code, reasons or ("no run was finished",))


def _undecided(run: Judged) -> bool:
    return run.judgement.outcome == "no_verdict"


def _clamp_hits(judged: tuple[Judged, ...], clamped: frozenset[str]) -> list[Judged]:
    causes = {cause for name in clamped for cause in _CLAMPED_CAUSES.get(name, set())}
    return [run for run in judged if not run.judgement.accepted and run.observation.status.cause in causes]


def _why(run: Judged) -> str:
    status, judgement = run.observation.status, run.judgement
    parts = [f"run {run.observation.index}: {status.cause}"]
    if judgement.mismatch_reason == "exit_code":
        wanted = "not 0" if judgement.expected_exit_code is None else judgement.expected_exit_code
        parts.append(f"exit code {status.returncode}, expected {wanted}")
    elif judgement.mismatch_reason:
        parts.append(f"{judgement.mismatch_reason} does not fit" if judgement.mismatch_reason in
                     ("match", "signature") else judgement.mismatch_reason)
    detail = judgement.detail or status.detail
    return ", ".join(parts) + (f" ({detail})" if detail else "")
