"""A comparison as text, Markdown or JSON. Everything in it is a number, a state, or a checked label."""

from __future__ import annotations

import json
from typing import Any

from runner.reports.compare.rows import NUMERIC
from runner.reports.markup import code
from runner.reports.scalars import display

_NOTE = "descriptive only: nothing was run, and it says nothing of which is better"
_COLUMNS = ("index", "label", "repomin_version", "backend", "oracle_mode", "source_files", "source_bytes",
            "output_files", "output_bytes", "file_retention_ratio", "byte_retention_ratio", "attempts",
            "accepted_mutations", "cache_hits", "budget_exhausted", "holdout_status", "holdout_passes",
            "holdout_completed_runs", "holdout_planned_runs", "phase_coverage")


def comparison_json(comparison: dict[str, Any]) -> str:
    """One line, sorted keys."""
    return json.dumps(comparison, sort_keys=True)


def comparison_text(comparison: dict[str, Any]) -> str:
    """A column a report, then what changed from each to the next."""
    runs = comparison["runs"]
    cells = {name: [display(run[name]) for run in runs] for name in _COLUMNS}
    width = max(len(cell) for column in cells.values() for cell in column) + 2
    lines = [f"{comparison['run_count']} reports, {_NOTE}", ""]
    lines += [f"{name:<24}{''.join(f'{cell:<{width}}' for cell in column)}".rstrip() for name, column in cells.items()]
    for delta in comparison["deltas"]:
        lines += ["", f"{delta['from_label']} to {delta['to_label']}", *(f"  {line}" for line in _changes(delta))]
    warnings = comparison["context_warnings"]
    return "\n".join([*lines, "", *(f"warning  {text}" for text in warnings)] if warnings else lines)


def comparison_markdown(comparison: dict[str, Any]) -> str:
    """Tables of the same rows."""
    runs = comparison["runs"]
    lines = ["# Comparison of reports", "", f"This is {_NOTE}.", "", "## Reports", ""]
    lines += ["| | " + " | ".join(code(run["label"]) for run in runs) + " |", "| --- |" + " ---: |" * len(runs)]
    lines += [f"| `{name}` | " + " | ".join(code(display(run[name])) for run in runs) + " |"
              for name in _COLUMNS if name != "label"]
    lines += ["", "## From each to the next", ""]
    for delta in comparison["deltas"]:
        lines.append(f"- {code(delta['from_label'])} to {code(delta['to_label'])}:")
        lines += [f"  - {code(line)}" for line in _changes(delta)]
    warnings = comparison["context_warnings"]
    lines += ["", "## Warnings", "", *([f"- {text}" for text in warnings] or ["- none"])]
    return "\n".join(lines)


def _changes(delta: dict[str, Any]) -> list[str]:
    numeric = delta["numeric_deltas"]
    moved = [f"{name} {_signed(numeric[name])}" for name in NUMERIC if numeric[name] != 0]
    return [*moved, *(f"{name} differs" for name in delta["changed_fields"])] or ["no difference in these fields"]


def _signed(value: float | None) -> str:
    return f"{'+' if value is not None and value > 0 else ''}{display(value)}"
