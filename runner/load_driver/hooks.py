"""Command fixtures: a program before the load, and one after it, in the scenario's own folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.load.job import SCENARIO_FOLDER
from runner.load_driver.processes import Copier, run

KEPT = 4096
"""The last bytes of a hook's standard error that are kept."""
_OUTPUT = 1 << 20


@dataclass(frozen=True, slots=True)
class HookRun:
    """What became of one. ``status`` is ``passed``, ``failed``, ``timed_out`` or ``not_started``; ``output`` the object
    on its last line of output, if it is one.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    status: str
    seconds: float
    stderr: str
    output: dict[str, Any] | None

    def document(self) -> dict[str, Any]:
        """As ``fixture.json`` has it."""
        return {"argv": list(self.argv), "exit_code": self.exit_code, "status": self.status,
                "duration_seconds": round(self.seconds, 3), "stderr": self.stderr}

    def failure(self, stage: str) -> str:
        """What to say of it; empty if it passed."""
        if self.status == "passed":
            return ""
        how = {"timed_out": f"did not end within its time ({self.seconds:.1f} s)",
               "not_started": "cannot be started"}.get(self.status, f"ended with {self.exit_code}")
        return f"{stage} {how}"


def run_hook(argv: tuple[str, ...], seconds: int, folder: Path, env: Mapping[str, str]) -> HookRun:
    """Run it, without a shell."""
    said, complained = _Tail(_OUTPUT), _Tail(KEPT)
    ended = run(argv, cwd=folder / SCENARIO_FOLDER, env=env, seconds=seconds,
                stdout=Copier(said.add, _ENDLESS), stderr=Copier(complained.add, _ENDLESS))
    if ended.returncode is None:
        status = "not_started"
    elif ended.timed_out:
        status = "timed_out"
    else:
        status = "passed" if ended.returncode == 0 else "failed"
    return HookRun(argv, ended.returncode, status, ended.seconds, complained.text(), _object(said.text()))


_ENDLESS = 1 << 62


class _Tail:
    """The last bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._kept = b""

    def add(self, block: bytes) -> None:
        self._kept = (self._kept + block)[-self._cap:]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


def _object(output: str) -> dict[str, Any] | None:
    lines = output.rstrip().splitlines()
    try:
        value = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
