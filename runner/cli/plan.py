"""What a replay would do: shown first, and done when a person says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner.controller.line import Replayed


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What would be run, in words, and how to run it. ``perform`` takes ``out`` and ``progress``."""

    text: str
    runs: int
    perform: Callable[..., Replayed]
    on_host: bool = False
