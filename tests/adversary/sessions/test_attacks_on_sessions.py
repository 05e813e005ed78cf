"""Threat: a controller of browser sessions that is interrupted or killed in the middle (row 14): two containers and
their volumes go, whatever it was doing.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import URL, application, click, incident, nothing_is_left, on_the_engine, page, started
from controllers import processes, swept
from harness import engine
from waiting import eventually

LONG = incident([click(delay_ms=300_000)])


def replaying(place: Path) -> list[object]:
    """A replay whose only step takes five minutes."""
    (place / "recorded").mkdir()
    (place / "recorded" / "incident.json").write_text(json.dumps(LONG))
    return ["replay", place / "recorded", "--yes", *application(place, {"page.html": page("")}), "--runs", 2]


def improvising(place: Path) -> list[object]:
    """A recording of a thousand steps."""
    return ["chaos", "--target-url", URL, "--steps", 1000, *application(place, {"page.html": page("")})]


COMMANDS = {"replay": replaying, "chaos": improvising}


def in_the_middle(mark: str) -> Callable[[], bool]:
    """Whether two sessions have a steward and a run each, and the browser shows a page."""
    def holds() -> bool:
        found = engine().containers(filters={"name": f"runner-{mark}"})
        assert len(found) <= 8  # two sessions, two runs, the next one ahead
        return len(found) >= 4 and any("--type=renderer" in line for each in found for line in processes(each["Id"]))
    return holds


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_in_the_middle_leaves_nothing(number: signal.Signals, command: str, tmp_path: Path) -> None:
    """Exit 130, both containers and their volumes gone, no half evidence."""
    with started(tmp_path, *COMMANDS[command](tmp_path), "--out", tmp_path / "run", "--json") as (process, mark):
        eventually(in_the_middle(mark), "no browser came to play", 120)
        process.send_signal(number)
        answer, complaint = process.communicate(timeout=120)
    assert process.returncode == 130, complaint
    assert json.loads(answer)["code"] == "interrupted"
    nothing_is_left(tmp_path, mark)
    assert not (tmp_path / "run").exists()


def test_killed_controller_takes_both_containers_along(tmp_path: Path) -> None:
    """SIGKILL: the leashes end them in seconds; gc removes the volumes."""
    with started(tmp_path, *replaying(tmp_path), "--out", tmp_path / "run") as (process, mark):
        eventually(in_the_middle(mark), "no browser came to play", 120)
        process.kill()
        process.wait()
    eventually(lambda: engine().containers(filters={"name": f"runner-{mark}"}) == [], "containers outlive the command")
    swept(lambda: on_the_engine(mark))
    assert not (tmp_path / "run").exists()
