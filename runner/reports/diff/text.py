"""A difference as text, Markdown or JSON. All values are a stranger's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from runner.errors import printable
from runner.reports.markup import code, fenced
from runner.reports.scalars import display
from runner.sandbox.policy_model import size_fields
from runner.sandbox.sizes import format_size

_SIZES = frozenset(f"effective.{name}" for name in size_fields())
_UNITS = {"wall_seconds": "s", "cpu_seconds": "s", "peak_memory": "MiB"}


def diff_json(diff: dict[str, Any]) -> str:
    """One line, sorted keys, ASCII."""
    return json.dumps(diff, sort_keys=True)


def diff_text(diff: dict[str, Any]) -> str:
    """What differs in a word, then each difference: ``-`` is the first, ``+`` the second."""
    lines = [_headline(diff), f"--- {_name(diff['a'])}", f"+++ {_name(diff['b'])}"]
    for name, rows in diff["sections"].items():
        lines += ["", name, *(f"  {line}" for row in rows for line in _row(row))] if rows else []
    for name in ("changes", "artifacts"):
        lines += ["", f"{name} that only one has", *(f"  {line}" for line in _lists(diff[name]))] \
            if name in diff["different"] else []
    for title, body in _outputs(diff):
        lines += ["", title, *(f"  {line}" for line in body)]
    lines += ["", "time and memory", *(f"  {line}" for line in _timing(diff))] if "timing" in diff else []
    return "\n".join(map(printable, lines))


def diff_markdown(diff: dict[str, Any]) -> str:
    """The same; what a stranger wrote stands in code."""
    lines = ["# Difference", "", f"{_headline(diff)}.", "", f"- a: {code(_name(diff['a']))}",
             f"- b: {code(_name(diff['b']))}"]
    for name, rows in diff["sections"].items():
        if rows:
            lines += ["", f"## {name.capitalize()}", ""]
            lines += [f"- {code(str(row['key']))}: {code(_said(row, 'a'))} in a, {code(_said(row, 'b'))} in b"
                      for row in rows]
    for name in ("changes", "artifacts"):
        if name in diff["different"]:
            lines += ["", f"## {name.capitalize()} that only one has", "", *fenced(_lists(diff[name]), "diff")]
    for title, body in _outputs(diff):
        lines += ["", f"## {title.capitalize()}", "", *fenced(body, "diff")]
    if "timing" in diff:
        lines += ["", "## Time and memory", "", *(f"- {line}" for line in _timing(diff))]
    return "\n".join(lines)


def _headline(diff: dict[str, Any]) -> str:
    if diff["same"]:
        return "SAME: " + ("time and memory aside, the runs are alike" if diff["kind"] == "runs"
                           else "the reports claim the same")
    return f"DIFFERENT: {', '.join(diff['different'])}"


def _name(side: dict[str, str]) -> str:
    return side["report"] if "report" in side else f"{side['run_id']} ({side['started']})"


def _row(row: dict[str, Any]) -> Iterator[str]:
    yield f"- {row['key']}: {_said(row, 'a')}"
    yield f"+ {row['key']}: {_said(row, 'b')}"


def _said(row: dict[str, Any], side: str) -> str:
    value = row[side]
    return format_size(value) if row["key"] in _SIZES and isinstance(value, int) else _value(value)


def _value(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(_value(each) for each in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(each)}" for key, each in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return "not said" if value is None else display(value)


def _lists(only: dict[str, Any]) -> Iterator[str]:
    for sign, side in (("-", "a"), ("+", "b")):
        yield from (f"{sign}{line}" for line in only[side])
        if only[f"{side}_more"]:
            yield f"{sign}and {only[f'{side}_more']} more"


def _outputs(diff: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """A title and lines for each stream that is shown."""
    output = diff.get("output")
    if output is None:
        return
    for entry in output["runs"]:
        body: list[str] = []
        for hunk in entry["hunks"]:
            body += [f"@@ line {hunk['a_line']}, line {hunk['b_line']} @@", *hunk["lines"]]
        if not entry["complete"]:
            body.append("@@ more may differ @@")
        yield (f"{entry['stream']} of run {entry['run']} ({entry['a_bytes']} bytes, {entry['b_bytes']} bytes)", body)
    if output["more"]:
        yield f"output: {output['more']} more streams differ", []


def _timing(diff: dict[str, Any]) -> Iterator[str]:
    for row in diff["timing"]:
        unit = _UNITS[row["metric"]]
        yield f"{row['metric']}: {_spread(row['a'], unit)} in a, {_spread(row['b'], unit)} in b"


def _spread(spread: dict[str, Any], unit: str) -> str:
    if not spread["n"]:
        return "not known"
    scale = 1 << 20 if unit == "MiB" else 1
    middle, least, most = (spread[key] / scale for key in ("median", "least", "most"))
    return f"{middle:.3g} {unit} ({least:.3g} to {most:.3g}, n {spread['n']})"
