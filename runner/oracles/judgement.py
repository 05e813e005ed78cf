"""What any oracle says of one run; apart from the oracles, so that who keeps judgements need not load what makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runner.sandbox.exit import Cause

if TYPE_CHECKING:
    from runner.oracles.text import Found

MismatchReason = Literal["timeout", "resource", "no_verdict", "exit_code", "match", "signature", "failure", "diverged"]
Outcome = Literal["passed", "failed", "timed_out", "resource_exhausted", "no_verdict"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the oracle says of one run.

    ``mismatch_reason`` is the first of its values, in their order, that holds; ``None`` when accepted.
    ``expected_exit_code`` is ``None`` when none is pinned. ``detail`` explains in plain words and never
    quotes output or pattern. ``cause`` is the run's cause as settled here: with a full work volume and a
    contract that was not met it is ``disk_limit``. ``match`` is where the pattern was found, accepted or not.
    """

    accepted: bool
    mismatch_reason: MismatchReason | None
    outcome: Outcome
    expected_exit_code: int | None = None
    actual_exit_code: int | None = None
    detail: str = ""
    cause: Cause | None = None
    match: Found | None = None


def unjudged(why: str) -> Judgement:
    """The judgement of a run that could not be judged; ``why`` in plain words."""
    return Judgement(False, "no_verdict", "no_verdict", detail=why)
