"""Under what conditions two reports were made, as far as it takes to say that they differ. No value leaves here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from runner.reports.claims.summary import safe_version
from runner.sources.load import ParsedReport
from runner.sources.native import CommandReport
from runner.sources.repomin import RepominReport

Context = dict[str, str | None]
"""Digests of settings by name; ``None`` where a report leaves one out, and no such name where its format has none."""

_INPUTS = ("ignored_names", "ignored_paths", "gitignore_files", "gitignore_sha256", "gitignore_recursive",
           "keep_paths", "text_files")
_SETTINGS = {
    "input": _INPUTS,
    "cache": ("cache_enabled",),
    "budget": ("max_attempts", "max_duration_seconds"),
    "semantic": ("semantic_reducer", "semantic_model", "semantic_endpoint", "semantic_timeout"),
    "directory": ("working_directory_policy", "working_directory_basename"),
    "resumed": ("resumed",),
    "sampling": ("candidate_sampling_policy", "candidate_runs", "candidate_min_passes", "min_candidate_rate",
                 "confidence", "run_confidence", "candidate_family_control_policy"),
    "baseline": ("baseline_runs", "min_baseline_rate"),
    "strategy": ("reduction_strategy",),
}
"""Members of ReproMin's ``execution`` by what they are about."""

_HOLDOUT = {"holdout_policy": ("policy",),
            "holdout_controls": ("cache_used", "early_stopping", "fresh_repository_copy_per_run")}
_DIFFERENT = (
    ("format", "the reports are of different formats; a native report counts as one that was not reduced"),
    ("source", "the sources differ in size, so retention ratios cannot be compared directly"),
    ("input", "the rules that select the input differ"),
    ("version", "the versions of what wrote the reports differ"),
    ("backend", "the backends differ"),
    ("jobs", "the numbers of parallel jobs differ"),
    ("timeout", "the timeouts differ, or a report has none"),
    ("cache", "the cache settings differ"),
    ("budget", "the budgets differ, or a report has none"),
    ("semantic", "the settings of the semantic reducer differ"),
    ("container", "the container's image, network or limits differ"),
    ("policy", "the sandbox policies differ"),
    ("environment", "the environments differ in names or values"),
    ("directory", "the working directories differ"),
    ("cwd", "the commands run in different directories of the payload"),
    ("resumed", "some reports come from a resumed session, others do not"),
    ("mode", "the kinds of oracle differ"),
    ("oracle", "the oracles differ in what they expect"),
    ("sampling", "the sampling of candidates differs"),
    ("baseline", "the baselines were sampled differently"),
    ("strategy", "the reduction strategies differ"),
    ("holdout_policy", "the holdout policies differ"),
    ("holdout_status", "the holdout states differ"),
    ("holdout_controls", "the holdout runs were controlled differently"),
    ("coverage", "the phase statistics differ in coverage"),
    ("phases", "the phases differ"),
)


def context_of(report: ParsedReport, row: Mapping[str, Any]) -> Context:
    """The conditions of one report, as digests."""
    model = report.model
    own = _repomin(model, report.data, row) if isinstance(model, RepominReport) else _native(model)
    shared = {"format": type(model).__name__, "source": [row["source_files"], row["source_bytes"]],
              "backend": row["backend"], "mode": row["oracle_mode"], "holdout_status": row["holdout_status"],
              "coverage": row["phase_coverage"], "oracle": _oracle(model),
              "exhausted": row["budget_exhausted"] or None, "partial": row["phase_coverage"] == "partial" or None,
              "no_ratio": None in (row["file_retention_ratio"], row["byte_retention_ratio"]) or None}
    return {name: _digest(value) for name, value in (shared | own).items()}


def warnings_of(contexts: Sequence[Context]) -> list[str]:
    """What speaks against comparing the reports, in a fixed order. A setting is compared among those that have it."""
    said = [text for name, text in _DIFFERENT if len({context[name] for context in contexts if name in context}) > 1]
    if any(context["version"] is None for context in contexts):
        said = [text for text in said if text != dict(_DIFFERENT)["version"]]
        said.append("at least one report does not say which version wrote it")
    for name, text in (("exhausted", "at least one report used up a budget"),
                       ("partial", "at least one report has partial phase statistics"),
                       ("no_ratio", "at least one report has no retention ratio, since its source was empty")):
        if any(context[name] is not None for context in contexts):
            said.append(text)
    return said


def _repomin(model: RepominReport, data: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, object]:
    raw, execution = model.execution.raw, model.execution
    holdout, phases = data["holdout_certification"], data["phase_statistics"]["phases"]
    found: dict[str, object] = {name: _members(raw, keys) for name, keys in _SETTINGS.items()}
    return found | {
        "version": row["repomin_version"], "jobs": execution.jobs, "timeout": execution.timeout_seconds,
        "container": [raw.get(key) for key in ("image", "image_id", "network", "limits")],
        "environment": [raw.get("environment_names"), execution.environment_sha256],
        "phases": [phase.get("phase") if isinstance(phase, dict) else None for phase in phases],
        **{name: _members(holdout, keys) for name, keys in _HOLDOUT.items()}}


def _native(model: CommandReport) -> dict[str, object]:
    execution, tool = model.execution, model.tool
    version = safe_version(tool.version)
    return {"version": None if version is None else [tool.name, version], "timeout": execution.timeout_seconds,
            "container": [execution.image and execution.image.model_dump(mode="json"), execution.network,
                          execution.limits.model_dump(mode="json")],
            "environment": [list(model.environment.names), model.environment.sha256],
            "policy": execution.policy.sha256, "cwd": model.workload.cwd, "baseline": [model.baseline.runs, None]}


def _oracle(model: RepominReport | CommandReport) -> object:
    """What a run must show; a legacy report's inferred contract is never the same as a recorded one."""
    if isinstance(model, CommandReport):
        contract = model.oracle.contract()
        return [True, contract.exit_code, contract.match, contract.signature and asdict(contract.signature)]
    spec, signature = model.failure_spec, model.signature
    return [spec is not None, spec and spec.exit_code, model.failure_match, signature and asdict(signature)]


def _members(raw: Mapping[str, object], keys: Iterable[str]) -> list[object] | None:
    values = [raw.get(key) for key in keys]
    return None if all(value is None for value in values) else values


def _digest(value: object) -> str | None:
    """Equal settings have equal digests; NaN and the like, which no setting should be, are all alike."""
    if value is None:
        return None
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        return "unavailable"
    return sha256(text.encode("ascii")).hexdigest()
