"""One run's observation to what was found in it, held until it is written."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

from runner.controller.loads.document import LoadFound
from runner.controller.loads.reading import left_by, shown
from runner.controller.loads.request import SettledLoad
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged
from runner.load.outcome import CONSOLE_FILE, METRICS_FILE
from runner.oracles.judgement import Judgement
from runner.oracles.load.model import Events, LoadJudgement


def load() -> None:
    """Load what judges a run, which takes some 80 ms: there is time for it while the run is under way."""


class LoadJudge:
    """Judges the one run of a scenario."""

    def __init__(self, settled: SettledLoad, run_id: str) -> None:
        self._settled = settled
        self._run_id = run_id
        self.found: LoadFound | None = None
        self.left: dict[str, bytes] = {}
        self.events = Events()

    def judge(self, observation: Observation) -> Judged:
        """The files are kept under their own names, so the observation keeps none."""
        from runner.oracles.load.events import read_events  # start-up time: `load`
        from runner.oracles.load.judge import judge_load
        from runner.oracles.load.metrics import aggregate, with_outcome

        left = left_by(observation)
        outcome, scenario = shown(left.outcome), self._settled.scenario
        self.left = left.files
        self.events = read_events(left.files.get(CONSOLE_FILE, b""), self._run_id)
        metrics = with_outcome(aggregate(BytesIO(left.files.get(METRICS_FILE, b"")), scenario), outcome)
        judgement = judge_load(scenario, outcome, self.events, metrics,
                               artifact_bytes=sum(map(len, left.files.values())))
        self.found = LoadFound(outcome, judgement, metrics)
        return Judged(replace(observation, artifacts=()), _as_judgement(judgement))


def _as_judgement(found: LoadJudgement) -> Judgement:
    """In the words that all runs share."""
    detail = found.reasons[0] if found.reasons else ""
    if found.verdict == "pass":
        return Judgement(True, None, "passed")
    if found.verdict == "fail":
        return Judgement(False, "failure", "failed", detail=detail)
    return Judgement(False, "no_verdict", "no_verdict", detail=detail)
