"""What a driver left, judged: its console to events, its points to metrics, and both to a judgement. Pure."""

from __future__ import annotations

from io import BytesIO

from runner.controller.loads.document import LoadFound
from runner.controller.loads.reading import LoadLeft, shown
from runner.controller.loads.request import SettledLoad
from runner.load.outcome import CONSOLE_FILE, METRICS_FILE
from runner.oracles.load.events import read_events
from runner.oracles.load.judge import judge_load
from runner.oracles.load.metrics import aggregate, with_outcome
from runner.oracles.load.model import Events


def judged(settled: SettledLoad, run_id: str, left: LoadLeft) -> tuple[Events, LoadFound]:
    """The events, and what was found with them."""
    outcome, scenario = shown(left.outcome), settled.scenario
    events = read_events(left.files.get(CONSOLE_FILE, b""), run_id)
    metrics = with_outcome(aggregate(BytesIO(left.files.get(METRICS_FILE, b"")), scenario), outcome)
    judgement = judge_load(scenario, outcome, events, metrics, artifact_bytes=sum(map(len, left.files.values())))
    return events, LoadFound(outcome, judgement, metrics)
