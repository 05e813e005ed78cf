"""A candidate: what a session plays, with parts left out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256

from runner.browser.faults import ApiFault, StateFault
from runner.browser.trace import Click, Step


@dataclass(frozen=True, slots=True)
class Candidate:
    """Steps and faults in their order; ``lanes`` is 0 where nothing races."""

    trace: tuple[Step, ...] = ()
    api_faults: tuple[ApiFault, ...] = ()
    state_faults: tuple[StateFault, ...] = ()
    lanes: int = 0

    def digest(self) -> str:
        """SHA-256 of its canonical JSON: candidates that play the same have the same."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return sha256(text.encode()).hexdigest()

    @property
    def faults(self) -> int:
        """How many faults are injected."""
        return len(self.api_faults) + len(self.state_faults)

    @property
    def actions(self) -> int:
        """Steps, with each of a step's clicks for one."""
        return sum(step.repeat if isinstance(step, Click) else 1 for step in self.trace)
