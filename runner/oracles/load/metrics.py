"""k6's points, aggregated in one pass: the ``metrics`` of ``result.json``, and what plots and judgement need.

Memory does not grow with the number of points: percentiles become histograms (``quantiles``), open requests are
counted in lanes (``overlap``), time is cut into steps (``timeline``), operations are capped (``operations``), and
starts of journeys take eight bytes each up to a cap (``arrivals``).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from runner.load.outcome import LoadOutcome
from runner.oracles.load.arrivals import MOST_ARRIVALS, arrival_errors
from runner.oracles.load.model import Metrics
from runner.oracles.load.operations import ACCURACY, Operations, rate, summary
from runner.oracles.load.overlap import Overlap
from runner.oracles.load.points import NO_TAGS, Data, Malformed, is_unwanted, read_point
from runner.oracles.load.quantiles import CEILING_MS, Durations
from runner.oracles.load.timeline import Timeline
from runner.scenarios.model import Scenario

WRITES = ("POST", "PUT", "PATCH", "DELETE")
_MOST = 1e9
"""Above this no counter or gauge of one point is believed."""


def aggregate(lines: Iterable[bytes], scenario: Scenario) -> Metrics:
    """Read k6's JSON output, line by line. A line that is not what k6 writes is counted and otherwise left out."""
    tally = _Tally(scenario)
    points = malformed = 0
    takers: dict[str, Callable[[Data], bool]] = {
        "http_reqs": tally.request, "http_req_duration": tally.duration, "http_req_failed": tally.failed,
        "iterations": tally.iteration, "iteration_duration": tally.journey, "dropped_iterations": tally.dropped,
        "vus_max": tally.vus}
    for line in lines:
        if is_unwanted(line):
            points += 1
            continue
        try:
            point = read_point(line)
        except Malformed:
            malformed += bool(line.strip())
            continue
        if point is None:
            continue
        points += 1
        taker = takers.get(point.metric)
        if taker is not None and not taker(point.data):
            malformed += 1
    return tally.metrics(points, malformed)


class _Tally:
    """Everything that is counted. Each method takes one point and says whether its value can be believed."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._operations = Operations(scenario)
        self._timeline = Timeline(scenario)
        self._journeys, self._journey_durations = Overlap(), Durations(ACCURACY)
        self._starts = array("d")
        self._delivered = 0
        self._sums: dict[str, float] = {}
        self._writes = dict.fromkeys(WRITES, 0.0)
        self._answered = self._transport = self._vus_max = 0

    def request(self, data: Data) -> bool:
        tags = data.tags or NO_TAGS
        if not self._sum("http_reqs", data.value):
            return False
        if tags.method in self._writes:
            self._writes[tags.method] += data.value
        # A request without an answer has the status 0; a script that drops the tag leaves the question open.
        self._answered += tags.status != "0"
        return True

    def duration(self, data: Data) -> bool:
        value = data.value
        if not 0 <= value <= CEILING_MS:
            return False
        operation = self._operations.get(data.tags.operation if data.tags is not None else None)
        end = data.time.timestamp()
        start = end - value / 1000
        operation.durations.add(value)
        operation.overlap.add(start, end)
        self._timeline.request(operation, start, end, value)
        return True

    def failed(self, data: Data) -> bool:
        if not 0 <= data.value <= 1:
            return False
        tags = data.tags or NO_TAGS
        operation = self._operations.get(tags.operation)
        operation.judged += 1
        if data.value == 1:
            operation.failed += 1
            operation.unexpected += tags.status not in operation.expected
            self._transport += tags.status == "0"
            self._timeline.failure(data.time.timestamp())
        return True

    def iteration(self, data: Data) -> bool:
        return self._sum("iterations", data.value)

    def dropped(self, data: Data) -> bool:
        return self._sum("dropped_iterations", data.value)

    def journey(self, data: Data) -> bool:
        if not 0 <= data.value <= CEILING_MS:
            return False
        end = data.time.timestamp()
        start = end - data.value / 1000
        self._delivered += 1
        self._journeys.add(start, end)
        self._journey_durations.add(data.value)
        self._timeline.iteration(start, end)
        if len(self._starts) < MOST_ARRIVALS:
            self._starts.append(start)
        return True

    def vus(self, data: Data) -> bool:
        if not 0 <= data.value <= _MOST:
            return False
        self._vus_max = max(self._vus_max, int(data.value))
        return True

    def _sum(self, name: str, value: float) -> bool:
        if not 0 <= value <= _MOST:
            return False
        self._sums[name] = self._sums.get(name, 0.0) + value
        return True

    def metrics(self, points: int, malformed: int) -> Metrics:
        overlap, in_flight = self._operations.overlap(), self._journeys.peak()
        timeline = self._timeline.document(min(self._starts, default=None))
        requests = int(self._sums.get("http_reqs", 0))
        return Metrics(
            self._document(overlap, in_flight), points, malformed, iterations=int(self._sums.get("iterations", 0)),
            requests=requests, writes=int(sum(self._writes.values())),
            dropped_iterations=int(self._sums.get("dropped_iterations", 0)), vus_max=self._vus_max,
            in_flight_peak=in_flight, overlap=overlap,
            unreachable=requests > 0 and self._answered == 0, timeline=timeline)

    def _document(self, overlap: dict[str, int], in_flight: int) -> dict[str, Any]:
        operations, durations = self._operations.seen(), self._operations.all_durations()
        judged = sum(each.judged for each in operations.values())
        failed = sum(each.failed for each in operations.values())
        unexpected = sum(each.unexpected for each in operations.values())
        document: dict[str, Any] = {
            **{name: self._sums.get(name, 0.0) for name in ("iterations", "http_reqs", "dropped_iterations")},
            "write_attempts": int(sum(self._writes.values())),
            "writes_by_method": {method: int(count) for method, count in self._writes.items() if count},
            "vus_max": self._vus_max, "http_req_duration_ms": summary(durations),
            "iteration_duration_ms": summary(self._journey_durations),
            "by_operation": {name: each.document() for name, each in operations.items()},
            "overlap": overlap, "in_flight_peak": in_flight,
            "percentiles": {"exact": durations.is_exact, "exact_below_samples": ACCURACY.exact,
                            "relative_error_beyond": ACCURACY.error},
        }
        if judged:
            document["http_req_failed_rate"] = _share(failed, judged)
            if self._transport:
                document["http_req_failed_rate"]["transport"] = self._transport
        if self._operations.expects:
            document["unexpected_http_failure_rate"] = _share(unexpected, judged)
        arrivals = arrival_errors(self._scenario.schedule, self._starts, self._delivered)
        if arrivals is not None:
            document["arrival_error_ms"] = arrivals
        # What was cut or may be imprecise is said, and only then.
        notes = {"operations_beyond": self._operations.beyond,
                 "out_of_order": self._operations.late() + self._journeys.late}
        return {**document, **{name: count for name, count in notes.items() if count}}


def _share(part: int, whole: int) -> dict[str, Any]:
    return {"samples": whole, "failed": part, "rate": rate(part, whole)}


def with_outcome(metrics: Metrics, outcome: LoadOutcome) -> Metrics:
    """The same metrics with what only the run itself knows: requests beside k6's, elapsed seconds (of the whole run),
    and rates over k6's own time. Writes of fixtures count in the document's ``write_attempts``; the fields stay k6's.
    """
    own = outcome.fixture_requests + outcome.observer_requests
    seconds = outcome.engine.seconds if outcome.engine is not None else 0.0
    document = {
        **metrics.document, "write_attempts": metrics.writes + outcome.fixture_writes,
        "fixture_requests": outcome.fixture_requests, "observer_requests": outcome.observer_requests,
        "total_http_reqs": metrics.requests + own, "elapsed_seconds": round(outcome.elapsed_seconds, 3),
    }
    if seconds > 0:
        document["iterations_per_second"] = round(metrics.iterations / seconds, 3)
        document["http_reqs_per_second"] = round(metrics.requests / seconds, 3)
    return replace(metrics, document=document)
