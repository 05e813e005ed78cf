"""``holdout_certification``: the certification that a report claims."""

from __future__ import annotations

from runner.sources.repomin.fields import CONFIDENCE, PROBABILITY, RATE, Fields, same_rate
from runner.sources.repomin.model import Holdout
from runner.sources.repomin.samples import check_samples

_STATUSES = ("not_requested", "not_started", "certified", "not_certified", "rejected", "interrupted",
             "aborted")
_STATISTICS = ("minimum_rate", "confidence", "required_passes", "observed_rate", "exact_lower_bound",
               "exact_p_value", "exact_rate_gate_passed")
_TREE_POLICY = "tree-sha256-v2"


def read_holdout(fields: Fields, tree_sha256: str | None) -> Holdout:
    """Check the object against itself and against ``output.tree_sha256``. Statistics are not recomputed."""
    modern = fields.has("schema_version")
    if modern:
        fields.version_one("schema_version")
    status = fields.choice("status", _STATUSES)
    planned, completed = fields.integer("planned_runs", 0), fields.integer("completed_runs", 0)
    passes = fields.integer("passes", 0)
    if completed > planned:
        raise fields.bad("completed_runs", "at most planned_runs")
    if passes > completed:
        raise fields.bad("passes", "at most completed_runs")
    certified = status == "certified"
    gate = _statistics(fields, planned, passes, required=modern and certified)
    if modern and certified and not 1 <= planned == completed:
        raise fields.bad("completed_runs", "planned_runs, and at least 1, because status is certified")
    check_samples(fields, completed, passes)
    fingerprint = _artifact(fields, tree_sha256, required=certified)
    return Holdout(status, planned, completed, passes, gate, fingerprint)


def _statistics(fields: Fields, planned: int, passes: int, *, required: bool) -> bool | None:
    """All seven or none; returns the gate."""
    given = [key for key in _STATISTICS if fields.given(key)]
    if not given and not required:
        return None
    reason = f"{given[0]} has one" if given else "status is certified"
    for key in _STATISTICS:
        if key not in given:
            raise fields.bad(key, f"a value, because {reason}")
    fields.number("minimum_rate", RATE)
    fields.number("confidence", CONFIDENCE)
    if fields.integer("required_passes", 0) > planned:
        raise fields.bad("required_passes", "at most planned_runs")
    rate = fields.number("observed_rate", PROBABILITY)
    if planned == 0 or not same_rate(rate, passes, planned):
        raise fields.bad("observed_rate", "passes / planned_runs, or none without runs")
    fields.number("exact_lower_bound", PROBABILITY)
    fields.number("exact_p_value", PROBABILITY)
    return fields.flag("exact_rate_gate_passed")


def _artifact(fields: Fields, tree_sha256: str | None, *, required: bool) -> str | None:
    if fields.given("artifact_fingerprint_policy"):
        fields.choice("artifact_fingerprint_policy", (_TREE_POLICY,))
    if not fields.given("artifact_fingerprint") and not required:
        return None
    fingerprint = fields.digest("artifact_fingerprint")
    if tree_sha256 is not None and fingerprint != tree_sha256:
        raise fields.bad("artifact_fingerprint", "the same as output.tree_sha256")
    return fingerprint
