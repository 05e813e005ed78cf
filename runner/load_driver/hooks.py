"""Command fixtures: a program before the load, and one after it, in the scenario's own folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from runner.load.job import SCENARIO_FOLDER
from runner.load.strictjson import parsed
from runner.load_driver.copying import Copier, Tail
from runner.load_driver.processes import Ended, run
from runner.load_driver.stopping import Stop

STDERR_KEPT = 4096
"""The last bytes of a hook's standard error that are kept."""
_STDOUT_KEPT = 1 << 20
_ENDLESS = 1 << 62
"""All of a stream is looked at, and its end is kept."""


@dataclass(frozen=True, slots=True)
class HookRun:
    """What became of one. ``told`` is its last line of output, if that is a JSON object. ``group``: where
    what it started in the background is.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    status: Literal["ok", "error", "cancelled"]
    reason: str
    seconds: float
    stderr: str
    told: str | None
    group: int | None = None

    def document(self) -> dict[str, Any]:
        """As ``fixture.json`` has it."""
        return {"argv": list(self.argv), "exit_code": self.exit_code, "status": self.status, "stderr": self.stderr,
                "duration_seconds": round(self.seconds, 3), **({"reason": self.reason} if self.reason else {})}


def run_hook(stage: str, argv: tuple[str, ...], seconds: int, folder: Path, env: Mapping[str, str],
             stop: Stop | None = None, leave: bool = False) -> HookRun:
    """Run it, without a shell. ``stop`` may end it early; ``leave``: what it started in the background stays."""
    said, complained = Tail(_STDOUT_KEPT), Tail(STDERR_KEPT)
    ended = run(argv, cwd=folder / SCENARIO_FOLDER, env=env, seconds=seconds, stop=stop, leave=leave,
                stdout=Copier(said.add, _ENDLESS), stderr=Copier(complained.add, _ENDLESS))
    reason = _reason(ended, seconds)
    status: Literal["ok", "error", "cancelled"] = "cancelled" if ended.stopped else "error" if reason else "ok"
    return HookRun(argv, ended.returncode, status, f"{stage} {reason}" if reason else "", ended.seconds,
                   complained.text(), object_line(said.text()), ended.group)


def _reason(ended: Ended, seconds: int) -> str:
    """What went wrong; empty if nothing did."""
    if ended.stopped:
        return "was cancelled"
    if ended.timed_out:
        return f"did not end within {seconds} s"
    if ended.returncode is None:
        return ended.why or "cannot be ended"
    if ended.returncode < 0:
        return f"was killed by signal {-ended.returncode}"
    if ended.returncode > 0:
        return f"ended with {ended.returncode}"
    return "left processes that cannot be ended" if ended.survivors else ""


def object_line(output: str) -> str | None:
    """The last line, if it is a JSON object."""
    line = output.rstrip().rpartition("\n")[2].strip()
    try:
        return line if isinstance(parsed(line), dict) else None
    except ValueError:
        return None
