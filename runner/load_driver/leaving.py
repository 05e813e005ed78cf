"""The outcome's file: its room is taken before anything of the scenario runs, so that a full volume cannot keep it out.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from runner.load.outcome import OUTCOME_FILE, LoadOutcome, write_outcome

ROOM = 4 << 20
"""Bytes. An outcome is some kilobytes, and its largest part is what a person's own manifest expects."""


class Leaving:
    """Room for one outcome in a folder."""

    def __init__(self, out: Path) -> None:
        self._part, self._target = out / f"{OUTCOME_FILE}.part", out / OUTCOME_FILE
        with self._part.open("wb") as file, suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, ROOM)

    def leave(self, outcome: LoadOutcome) -> None:
        """All of it or nothing: a reader never sees half an outcome. Raises OSError."""
        try:
            data = write_outcome(outcome)
        except RecursionError:
            data = write_outcome(LoadOutcome("crashed", "the outcome is nested too deeply to be written",
                                             cleaned=outcome.cleaned, fixture_failures=outcome.fixture_failures))
        self._part.touch()
        with self._part.open("r+b") as file:
            file.write(data)
            file.truncate()
        self._part.replace(self._target)
