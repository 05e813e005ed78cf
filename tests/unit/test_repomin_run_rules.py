"""Sections 1.6 to 1.8 of ReproMin's schema: phases, events, holdout. Each rule broken once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from repomin_reports import DROP, certified, edited, sample, stopped

from runner.errors import ReportError
from runner.sources.repomin import validate_repomin

P, E, H, S = "phase_statistics", "events__0__", "holdout_certification__", "holdout_certification__samples__"
HEX = "ab" * 32
STATISTICS = ("minimum_rate", "confidence", "required_passes", "observed_rate", "exact_lower_bound",
              "exact_p_value", "exact_rate_gate_passed")
PHASE_COUNTS = ("attempts", "accepted", "no_op", "rejected", "superseded", "aborted", "oracle_sample_uses",
                "oracle_samples", "cache_hits")


def modern() -> dict[str, Any]:
    return sample("a")


PHASES = [
    *((modern, f"{P}.schema_version", {f"{P}__schema_version": bad}) for bad in (None, 2, True)),
    *((modern, f"{P}.coverage", {f"{P}__coverage": bad}) for bad in (DROP, None, "full")),
    *((modern, f"{P}.phases", {f"{P}__phases": bad}) for bad in (DROP, None, {}, [])),
    (modern, f"{P}.phases[0]", {f"{P}__phases": ["files"]}),
    *((modern, f"{P}.phases[0].{key}", {f"{P}__phases__0__{key}": bad})
      for key in PHASE_COUNTS for bad in (DROP, None, -1, True, 1.0)),
    (modern, f"{P}.phases[0].attempts", {f"{P}__phases__0__no_op": 1}),
    (modern, f"{P}.phases[0].oracle_sample_uses", {f"{P}__phases__0__cache_hits": 1}),
    (modern, f"{P}.phases", {"attempts": 4}),
    (modern, f"{P}.phases", {"accepted_mutations": 2}),
    (modern, f"{P}.phases", {"attempts": 10**4000}),
]

EVENTS = [
    (modern, "events[0]", {"events": ["x"]}),
    *((modern, f"events[0].{key}", {f"{E}{key}": bad}) for key in ("phase", "description") for bad in (DROP, "", 7)),
    *((modern, "events[0].duration_seconds", {f"{E}duration_seconds": bad})
      for bad in (DROP, None, -0.1, True, math.nan, math.inf)),
    *((modern, f"events[0].{key}", {f"{E}{key}": bad}) for key in ("oracle_runs", "oracle_passes")
      for bad in (DROP, None, -1, True, 1.0)),
    (modern, "events[0].oracle_passes", {f"{E}oracle_passes": 2}),
    *((modern, "events[0].oracle_rate", {f"{E}oracle_rate": bad}) for bad in (0.5, 1.1, "1", True, 1 - 1e-11)),
    (modern, "events[0].oracle_rate", {f"{E}oracle_runs": 0, f"{E}oracle_passes": 0, f"{E}oracle_rate": 0}),
    *((modern, f"events[0].{key}", {f"{E}{key}": bad}) for key in ("oracle_lower_bound", "oracle_anytime_lower_bound")
      for bad in (-0.1, 1.1, "0", True)),
    *((modern, "events[0].oracle_early_acceptance", {f"{E}oracle_early_acceptance": bad}) for bad in (None, 0, "no")),
    (modern, "events[0].candidate_confidence", {f"{E}candidate_family_index": 0}),
    (modern, "events[0].candidate_alpha", {f"{E}candidate_family_index": 0, f"{E}candidate_confidence": 0.5}),
    *((modern, f"events[0].{key}", {f"{E}candidate_family_index": 0, f"{E}candidate_confidence": 0.5,
                                   f"{E}candidate_alpha": 0.5} | {f"{E}{key}": bad})
      for key, bad in (("candidate_family_index", -1), ("candidate_family_index", 0.5), ("candidate_confidence", 2),
                       ("candidate_alpha", -1), ("candidate_alpha", "0"))),
]

HOLDOUT = [
    *((modern, f"holdout_certification.{key}", {f"{H}{key}": bad})
      for key in ("planned_runs", "completed_runs", "passes") for bad in (DROP, None, -1, True, 0.0)),
    *((modern, "holdout_certification.schema_version", {f"{H}schema_version": bad}) for bad in (None, 2, True)),
    *((modern, "holdout_certification.status", {f"{H}status": bad}) for bad in (DROP, None, "ok", ["certified"])),
    (modern, "holdout_certification.completed_runs", {f"{H}completed_runs": 1}),
    (certified, "holdout_certification.passes", {f"{H}passes": 4}),
    *((certified, f"holdout_certification.{key}", {f"{H}{key}": None}) for key in STATISTICS),
    *((modern, f"holdout_certification.{STATISTICS[key == STATISTICS[0]]}", {f"{H}{key}": 1}) for key in STATISTICS),
    (modern, "holdout_certification.minimum_rate",
     {f"{H}status": "certified", f"{H}artifact_fingerprint": sample("a")["output"]["tree_sha256"]}),
    *((certified, f"holdout_certification.{key}", {f"{H}{key}": bad}) for key, bad in (
        ("minimum_rate", 0), ("minimum_rate", 1.1), ("confidence", 0), ("confidence", 1), ("confidence", "x"),
        ("required_passes", 4), ("required_passes", -1), ("required_passes", 2.0), ("observed_rate", 1),
        ("observed_rate", 2 / 3 + 1e-11), ("exact_lower_bound", -1), ("exact_p_value", 2),
        ("exact_rate_gate_passed", 1))),
    (certified, "holdout_certification.completed_runs", {f"{H}planned_runs": 4, f"{H}observed_rate": 0.5}),
    *((certified, "holdout_certification.artifact_fingerprint", {f"{H}artifact_fingerprint": bad})
      for bad in (None, DROP, HEX, "x", 7)),
    *((modern, "holdout_certification.artifact_fingerprint_policy", {f"{H}artifact_fingerprint_policy": bad})
      for bad in ("tree-sha256-v1", 7)),
]

SAMPLES = [
    *((modern, "holdout_certification.samples", {f"{H}samples": bad}) for bad in (DROP, None, {}, [{}])),
    (certified, "holdout_certification.samples", {f"{S}2": DROP}),
    (certified, "holdout_certification.samples[1]", {f"{S}1": 7}),
    *((certified, "holdout_certification.samples[0].index", {f"{S}0__index": bad}) for bad in (DROP, 0, 2, True, "1")),
    *((certified, "holdout_certification.samples[0].accepted", {f"{S}0__accepted": bad}) for bad in (DROP, None, 1)),
    *((certified, "holdout_certification.samples[0].outcome", {f"{S}0__outcome": bad})
      for bad in ("failed", "interrupted", "timed_out", "fine", 7)),
    (certified, "holdout_certification.samples[1].outcome", {f"{S}1__outcome": "passed"}),
    (certified, "holdout_certification.samples[1].outcome", {f"{S}1__timed_out": True}),
    *((certified, f"holdout_certification.samples[0].{key}", {f"{S}0__{key}": bad}) for key, bad in (
        ("returncode", True), ("returncode", "0"), ("duration_seconds", -1), ("duration_seconds", math.inf),
        ("timed_out", None), ("timed_out", 0), ("resource_exhausted", "no"), ("resource_reason", 7),
        ("output_sha256", "x"))),
    (certified, "holdout_certification.samples[0].accepted", {f"{S}0__timed_out": True}),
    (certified, "holdout_certification.samples[0].accepted", {f"{S}0__resource_exhausted": True}),
    (stopped, "holdout_certification.samples[0].accepted", {f"{S}0__resource_exhausted": True}),
    *((stopped, "holdout_certification.samples[2].outcome", {f"{S}2__{key}": value}) for key, value in (
        ("accepted", True), ("returncode", 0), ("duration_seconds", 0), ("resource_reason", ""),
        ("output_sha256", HEX), ("timed_out", True))),
    (certified, "holdout_certification.passes", {f"{S}1__accepted": True, f"{S}1__outcome": "passed"}),
    *((certified, "holdout_certification.ordinary_failures", {f"{H}ordinary_failures": bad})
      for bad in (0, 2, -1, True, "1")),
    (certified, "holdout_certification.ordinary_failures", {f"{S}1__outcome": DROP}),
    *((stopped, f"holdout_certification.{key}", {f"{H}{key}": bad})
      for key in ("timed_out_runs", "resource_exhausted_runs", "interrupted_runs") for bad in (0, 2, 4, -1, True)),
]


@pytest.mark.parametrize(("base", "field", "changes"), [*PHASES, *EVENTS, *HOLDOUT, *SAMPLES])
def test_a_broken_rule_is_refused_naming_the_field(base: Callable[[], dict[str, Any]], field: str,
                                                   changes: dict[str, object]) -> None:
    with pytest.raises(ReportError) as caught:
        validate_repomin(edited(base(), **changes))
    assert caught.value.message.startswith(f"{field}: ")
    assert caught.value.message.isprintable()
    assert "expected" in caught.value.message


ACCEPTED = [
    (modern, {f"{P}__coverage": "partial", f"{P}__phases": ["not", "looked", "at"], "attempts": 77}),
    (modern, {f"{P}__schema_version": DROP}),
    (modern, {f"{P}__phases": [], "attempts": 0, "accepted_mutations": 0}),
    (modern, {"events": []}),
    (modern, {f"{E}oracle_rate": 1 + 0.0}), (modern, {f"{E}oracle_rate": DROP}), (modern, {f"{E}oracle_rate": None}),
    (modern, {f"{E}oracle_runs": 3, f"{E}oracle_rate": 1 / 3 + 1e-14}),
    (modern, {f"{E}oracle_runs": 3 * 10**400, f"{E}oracle_passes": 10**400, f"{E}oracle_rate": 1 / 3}),
    (modern, {f"{E}oracle_early_acceptance": DROP}),
    (modern, {f"{E}candidate_family_index": 0, f"{E}candidate_confidence": 0, f"{E}candidate_alpha": 1}),
    (certified, {}), (stopped, {}),
    (certified, {f"{H}exact_rate_gate_passed": True, f"{H}confidence": 0.001}),
    (certified, {f"{H}schema_version": DROP, f"{H}planned_runs": 4, f"{H}observed_rate": 0.5}),
    (certified, {f"{H}schema_version": DROP} | {f"{H}{key}": None for key in STATISTICS}),
    (certified, {"output__tree_sha256": None, "output__tree_fingerprint_policy": None,
                 f"{H}artifact_fingerprint": HEX}),
    (certified, {f"{S}1__outcome": DROP, f"{H}ordinary_failures": DROP, f"{H}interrupted_runs": 1}),
    (stopped, {f"{S}1__timed_out": DROP, f"{H}timed_out_runs": 3}),
    (stopped, {f"{S}0__resource_reason": "kept", f"{S}0__returncode": None}),
]


@pytest.mark.parametrize(("base", "changes"), ACCEPTED)
def test_what_repomin_accepts_is_accepted(base: Callable[[], dict[str, Any]], changes: dict[str, object]) -> None:
    report = validate_repomin(edited(base(), **changes))
    assert report.command == "sh reproduce.sh"


def test_the_claims_of_a_holdout_are_kept() -> None:
    holdout = validate_repomin(certified()).holdout
    assert (holdout.status, holdout.planned_runs, holdout.completed_runs, holdout.passes) == ("certified", 3, 3, 2)
    assert holdout.exact_rate_gate_passed is False
    assert holdout.artifact_fingerprint == sample("a")["output"]["tree_sha256"]
