"""The verdict of a load run, from all that was found in what it left.

Precedence is LiteTraffic's but for two rules. A proven failure of an assertion is never hidden by an error elsewhere:
``fail`` wins, and both are told. And an application counts as unreachable only if no request at all got an answer: one
that dies in the middle has failed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from runner.errors import printable
from runner.load.outcome import LoadOutcome
from runner.oracles.load.assertions import assertion_rows
from runner.oracles.load.findings import Finding, Kind, find
from runner.oracles.load.funnel import stage_funnel
from runner.oracles.load.model import Events, LoadJudgement, LoadVerdict, Metrics
from runner.scenarios.model import Scenario

_MOST_UNDECLARED = 100

PRECEDENCE: tuple[tuple[LoadVerdict, frozenset[Kind]], ...] = (
    ("fail", frozenset({"assertion_failed", "threshold"})),
    ("error", frozenset({"not_run", "fixture", "cleanup", "unreachable", "budget", "crashed"})),
    ("inconclusive", frozenset({"stopped", "unexplained", "unknown", "delivery", "overlap", "undeclared", "malformed",
                                "dropped", "survivors", "unfinished"})),
)
"""The first row with anything found is the verdict; with nothing found it is ``pass``. Each kind is in one row."""

_COMPLETE = frozenset({"assertion_failed", "unfinished"})
"""No limitations: what failed was seen to fail, and journeys that stop short were seen to stop."""


def judge_load(scenario: Scenario, outcome: LoadOutcome, events: Events, metrics: Metrics, *,
               artifact_bytes: int = 0) -> LoadJudgement:
    """Judge it. ``artifact_bytes`` is what the run's files take. Pure.

    A failed clean-up comes after all evidence: it is an error and among the limitations, and the evidence is complete.
    """
    # An observation that read the application's state reached it, whatever became of k6's requests.
    looked = any(document.get("status") in ("pass", "fail") for document in outcome.observations)
    metrics = replace(metrics, unreachable=metrics.unreachable and not looked)
    rows = assertion_rows(scenario, outcome, events, unreachable=metrics.unreachable)
    stages = stage_funnel(scenario, events, metrics.iterations)
    known = set(scenario.assertions)
    undeclared = Counter(event.name for event in events.events if event.type == "assertion" and event.name not in known)
    undeclared.update(stages.undeclared)
    findings = find(scenario, outcome, events, metrics, rows, undeclared, stages, artifact_bytes)
    ordered = [finding for _, kinds in PRECEDENCE for finding in findings if finding.kind in kinds]
    verdict = _verdict(ordered)
    # Journeys that stop short turn a pass into no verdict, and then they are what limits it.
    limits = [each for each in ordered if each.kind not in _COMPLETE] or [
        each for each in ordered if each.kind == "unfinished" and verdict == "inconclusive"]
    return LoadJudgement(verdict, all(each.kind == "cleanup" for each in limits), _texts(ordered), rows,
                         _texts(limits), stages.journeys, dict(undeclared.most_common(_MOST_UNDECLARED)))


def _verdict(findings: list[Finding]) -> LoadVerdict:
    for verdict, kinds in PRECEDENCE:
        if any(finding.kind in kinds for finding in findings):
            return verdict
    return "pass"


def _texts(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(printable(finding.text[:1000]) for finding in findings))
