"""A load run's evidence to what the page shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from runner.evidence.check import Evidence
from runner.evidence.load_record import LoadRecord
from runner.evidence.parts import StreamRecord
from runner.evidence.result import Result
from runner.evidence.session_record import FileRecord
from runner.load.outcome import ENGINE_STDERR, ENGINE_STDOUT
from runner.reports.html.excerpt import Excerpt, excerpt
from runner.reports.html.load.assertions import MOST, assertion_rows, budget_rows, undeclared_notes
from runner.reports.html.load.cards import cards_of, environment_of, figures_of, operations_of, schedule_of
from runner.reports.html.load.charts import busiest, latency_numbers, latency_plots, load_numbers, load_plots
from runner.reports.html.load.looks import FIXTURE_FILE, OBSERVATION_FILE, fixture_of, observations_of
from runner.reports.html.load.plot import Plot
from runner.reports.html.load.stages import failed_requests, funnels, stage_notes, stalls
from runner.reports.html.load.timeline import MAX_BYTES, TIMELINE_FILE, Timeline, read_timeline
from runner.reports.html.load.values import at
from runner.reports.html.load.view import LoadView
from runner.reports.html.session.view import Grid

_TARGET_OUTPUT, _ENGINE_OUTPUT = 64 << 10, 16 << 10
_MOST_LATENCIES = 9
_MOST_SENTENCES = 200
_NOTHING = Grid("", (), ())
_CLEANED = {True: "Everything that was made is gone.", False: "Something that was made is still there.",
            None: "Nothing was made."}


def load_of(evidence: Evidence) -> LoadView | None:
    """The load run; ``None`` for all other evidence. Raises EvidenceAltered if a file has changed meanwhile."""
    result = evidence.result
    load = result.load
    if load is None:
        return None
    metrics, rows = result.metrics or {}, result.assertions or ()
    timeline = read_timeline(_file(evidence, load, TIMELINE_FILE, MAX_BYTES))
    names = busiest(timeline, metrics) if timeline is not None else ()
    shown = names[:_MOST_LATENCIES]
    plots = load_plots(timeline, load, at(metrics, "in_flight_peak")) if timeline is not None else ()
    return LoadView(
        cards=cards_of(result, load), assertions=assertion_rows(rows), assertions_more=max(0, len(rows) - MOST),
        limitations=_told(result), notes=(result.notes or ())[:_MOST_SENTENCES], plots=plots,
        plots_note=_plots_note(result, timeline), numbers=load_numbers(timeline) if timeline is not None else _NOTHING,
        latencies=_latencies(timeline, shown, len(plots)), latencies_more=len(names) - len(shown),
        latency_numbers=latency_numbers(timeline, shown) if timeline is not None and shown else _NOTHING,
        failures=(*stalls(result.journeys), *failed_requests(metrics)), funnels=tuple(funnels(result.journeys)),
        stages_note=(*stage_notes(result.journeys), *undeclared_notes(load)), operations=operations_of(metrics),
        figures=figures_of(metrics), budgets=tuple(budget_rows(load, metrics)), schedule=schedule_of(load),
        observations=observations_of(_file(evidence, load, OBSERVATION_FILE, MAX_BYTES)),
        fixture=fixture_of(_file(evidence, load, FIXTURE_FILE, MAX_BYTES)),
        fixture_failures=load.fixture_failures[:_MOST_SENTENCES], cleaned=_CLEANED[load.cleaned],
        environment=environment_of(result, load), output=_output(evidence), engine=tuple(_engine(evidence, load)))


def _told(result: Result) -> tuple[str, ...]:
    """Limitations that are not among the reasons, which the page has above."""
    said = set(result.reasons)
    return tuple(one for one in result.limitations or () if one not in said)[:_MOST_SENTENCES]


def _latencies(timeline: Timeline | None, names: tuple[str, ...], before: int) -> tuple[Plot, ...]:
    return latency_plots(timeline, names, before + 1) if timeline is not None else ()


def _plots_note(result: Result, timeline: Timeline | None) -> str:
    if timeline is not None:
        return ""
    if not (result.metrics or {}).get("http_reqs"):
        return "There is nothing to draw: no request was sent."
    return f"There is nothing to draw: {TIMELINE_FILE} is not there, or not as it should be."


def _record(load: LoadRecord, name: str) -> FileRecord | None:
    return next((file for file in load.files if file.name == name), None)


def _file(evidence: Evidence, load: LoadRecord, name: str, limit: int) -> bytes:
    record = _record(load, name)
    return evidence.file(record) if record is not None and record.bytes <= limit else b""


def _output(evidence: Evidence) -> tuple[Excerpt, ...]:
    target = next((sample.target for sample in evidence.result.samples if sample.target is not None), None)
    if target is None:
        return ()
    return (excerpt("stdout", target.stdout, evidence.target_output(target, "stdout"), None, _TARGET_OUTPUT),
            excerpt("stderr", target.stderr, evidence.target_output(target, "stderr"), None, _TARGET_OUTPUT))


def _engine(evidence: Evidence, load: LoadRecord) -> Iterator[Excerpt]:
    for name, stream in ((ENGINE_STDOUT, "stdout"), (ENGINE_STDERR, "stderr")):
        record = _record(load, name)
        if record is not None:
            kept = StreamRecord(bytes=record.bytes, sha256=record.sha256, truncated=False, kept=record.bytes,
                                kept_sha256=record.sha256, file=name)
            yield excerpt(stream, kept, evidence.file(record), None, _ENGINE_OUTPUT)
