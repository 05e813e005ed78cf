"""``load_metrics``: aggregating k6's JSON output against a loop that only parses its lines with ``json.loads``, and the
memory that ten million points take against that of one million.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from runner.load.job import Phase
from runner.oracles.load.metrics import aggregate
from runner.scenarios.model import Budgets, Journey, Maxima, Scenario
from tests.bench.measure import Ratio, compare

JOURNEYS = 4_000
"""About 80,000 points."""

MANY, FEW = 10_000_000, 1_000_000
"""Points."""

_POINTS_OF_A_JOURNEY = 22
_TIMINGS = ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
_BEGUN = datetime(2026, 12, 1, 8, tzinfo=UTC)


def scenario(seconds: int, rate: int = 50) -> Scenario:
    """One journey of two requests, at an even rate."""
    journey = Journey("book", 2, 1, {"book": 1}, {"book": (201, 409)})
    return Scenario(
        directory=Path("."), name="even", manifest={}, script="journeys.js", helper=True, actors=(),
        journeys=(journey,), assertions=("held",), observer="state",
        budgets=Budgets(seconds + 60, 10 ** 7, 10 ** 7, 100, 1 << 30), seed=0, schedule=(Phase("even", seconds, rate),),
        planned_journeys=seconds * rate, maxima=Maxima(10 ** 7, 10 ** 7, seconds, 0, 0, seconds + 60),
        engine_seconds=seconds + 58.0, files={}, sha256="0" * 64)


def k6_lines(journeys: int, rate: int = 50, seed: int = 0) -> Iterator[bytes]:
    """What k6 writes of so many journeys: a POST and a GET each, every point with the tags that k6 gives it."""
    chance = random.Random(seed)
    for number in range(journeys):
        at = number / rate
        taken = 0.0
        for method, operation, path in (("POST", "book", "/rooms/a-1/book"), ("GET", "slot", "/rooms/a-1/slots/3")):
            duration = chance.lognormvariate(3, 0.7)
            taken += duration
            status = 409 if method == "POST" and number % 4 == 0 else 200
            tags = (f'{{"expected_response":"{str(status < 400).lower()}","group":"","method":"{method}",'
                    f'"name":"http://127.0.0.1:8080{path}","operation":"{operation}","proto":"HTTP/1.1",'
                    f'"scenario":"traffic","status":"{status}","url":"http://127.0.0.1:8080{path}"}}')
            yield from _request(at + taken / 1000, duration, tags, failed=status >= 400)
        end = at + taken / 1000
        for metric, value in (("data_sent", 251), ("data_received", 339), ("iteration_duration", taken),
                              ("iterations", 1)):
            yield _point(metric, end, value, '{"group":"","scenario":"traffic"}')
        if number % rate == 0:
            yield _point("vus", end, 3, "null")
            yield _point("vus_max", end, 8, "null")


def _request(end: float, duration: float, tags: str, *, failed: bool) -> Iterator[bytes]:
    yield _point("http_reqs", end, 1, tags)
    yield _point("http_req_duration", end, duration, tags)
    for timing in _TIMINGS:
        yield _point(f"http_req_{timing}", end, duration / 7, tags)
    yield _point("http_req_failed", end, int(failed), tags)


def _point(metric: str, seconds: float, value: float, tags: str) -> bytes:
    moment = (_BEGUN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    return (f'{{"metric":"{metric}","type":"Point","data":{{"time":"{moment}","value":{round(value, 6)},'
            f'"tags":{tags}}}}}\n').encode()


def load_metrics(folder: Path) -> Iterator[Ratio]:
    """Both read the same file, line by line."""
    path = folder / "metrics.jsonl"
    with path.open("wb") as file:
        file.writelines(k6_lines(JOURNEYS))
    even = scenario(JOURNEYS // 50)

    def ours() -> None:
        with path.open("rb") as lines:
            aggregate(lines, even)

    def theirs() -> None:
        with path.open("rb") as lines:
            for line in lines:
                json.loads(line)

    yield compare("load_metrics", ours, theirs, must=0.4)
    yield Ratio("load_metrics.memory", _peak(MANY), _peak(FEW), 1.25, None, 1)


def _peak(points: int) -> float:
    """MiB of a process that aggregates so many points."""
    done = subprocess.run([sys.executable, "-m", "tests.bench.load_metrics", str(points)], check=True,
                          stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def main(points: int) -> None:
    """Aggregate them, and print the peak of this process."""
    journeys = points // _POINTS_OF_A_JOURNEY
    found = aggregate(k6_lines(journeys), scenario(journeys // 50))
    assert found.points >= points * 0.99
    # Not `ru_maxrss`: that includes what the process was before it became this program.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.split("VmHWM:")[1].split()[0]) / 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]))
