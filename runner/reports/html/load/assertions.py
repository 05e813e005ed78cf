"""Declared assertions and budgets as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.evidence.load_record import AssertionRecord, LoadRecord
from runner.load.outcome import CONSOLE_FILE, ENGINE_STDERR, ENGINE_STDOUT, METRICS_FILE
from runner.reports.html.facts import Fact
from runner.reports.html.load.values import UNKNOWN, at, bar_length, share, short_json, whole
from runner.reports.html.load.view import AssertionRow, BudgetRow
from runner.reports.html.words import size

MOST = 200
_MOST_FAILURES, _MOST_NAMES = 3, 20
_MARKS = {"pass": ("good", "holds"), "fail": ("bad", "failed"), "unknown": ("warn", "unknown")}
_RAW = (CONSOLE_FILE, METRICS_FILE, ENGINE_STDOUT, ENGINE_STDERR)


def assertion_rows(rows: tuple[AssertionRecord, ...]) -> tuple[AssertionRow, ...]:
    """The first 200: what failed comes first, then what is unknown."""
    order = ["fail", "unknown", "pass"]
    return tuple(_assertion(row) for row in sorted(rows, key=lambda row: order.index(row.status))[:MOST])


def _assertion(row: AssertionRecord) -> AssertionRow:
    mark, words = _MARKS[row.status]
    facts = [Fact("Expected", (short_json(row.expected),), "code")] if row.expected is not None else []
    facts += [Fact("Seen", (short_json(row.actual),), "code")] if row.actual is not None else []
    samples = tuple(_sample(sample) for sample in row.failures[:_MOST_FAILURES])
    facts += [Fact("First that failed", samples, "list")] if samples else []
    return AssertionRow(row.id, mark, words, f"{row.samples:,}", row.reason, tuple(facts))


def _sample(sample: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {short_json(sample[name])}"
                     for name in ("logical_key", "expected", "actual", "detail") if sample.get(name) is not None)


def budget_rows(load: LoadRecord, metrics: Mapping[str, Any]) -> Iterator[BudgetRow]:
    """What the run took of each budget."""
    kept = {file.name: file.bytes for file in load.files}
    raw = float(sum(kept.get(name, 0) for name in _RAW)) if metrics else None
    took: tuple[tuple[str, str, float | None, int | None, Callable[[float | None], str]], ...] = (
        ("Time", "max_seconds", at(metrics, "elapsed_seconds"), load.maxima.get("seconds"), _seconds),
        ("Requests", "max_requests", at(metrics, "total_http_reqs"), load.maxima.get("requests"), whole),
        ("Writes", "max_write_attempts", at(metrics, "write_attempts"), load.maxima.get("writes"), whole),
        ("In flight", "max_in_flight", at(metrics, "vus_max"), None, whole),
        ("Raw evidence", "max_artifact_bytes", raw, None, _bytes))
    for name, budget, used, declared, said in took:
        allowed = load.budgets.get(budget)
        if allowed is not None:
            part = used / allowed if used is not None and allowed > 0 else None
            yield BudgetRow(name, said(used), "" if declared is None else said(declared), said(allowed),
                            "" if part is None else share(part), bar_length(part), over=bool(used and used > allowed))


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.1f} s"


def _bytes(value: float | None) -> str:
    return UNKNOWN if value is None else size(int(value))


def undeclared_notes(load: LoadRecord) -> Iterator[str]:
    """Evidence by names that the manifest does not know."""
    for name, count in list(load.undeclared.items())[:_MOST_NAMES]:
        yield f"{name}: {count:,} times in the evidence, and not declared by the manifest"
