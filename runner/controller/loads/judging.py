"""One run's observation to what was found in it, held until it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from runner.controller.loads.document import LoadFound
from runner.controller.loads.reading import LoadLeft, left_by
from runner.controller.loads.request import SettledLoad
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged
from runner.oracles.judgement import Judgement
from runner.oracles.load.model import Events, LoadJudgement

Judging = Callable[[SettledLoad, str, LoadLeft], tuple[Events, LoadFound]]


def load() -> Judging:
    """What judges a run. It takes some 80 ms to load, and there is time for it while the run is under way."""
    from runner.controller.loads.judged import judged  # start-up time: as said

    return judged


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
        left = left_by(observation)
        self.left = left.files
        self.events, self.found = load()(self._settled, self._run_id, left)
        return Judged(replace(observation, artifacts=()), _as_judgement(self.found.judgement))


def _as_judgement(found: LoadJudgement) -> Judgement:
    """In the words that all runs share."""
    detail = found.reasons[0] if found.reasons else ""
    if found.verdict == "pass":
        return Judgement(True, None, "passed")
    if found.verdict == "fail":
        return Judgement(False, "failure", "failed", detail=detail)
    return Judgement(False, "no_verdict", "no_verdict", detail=detail)
