"""Replays as a script would ask for them."""

from __future__ import annotations

from pathlib import Path

from cli import Ran, runner


def replay_json(report: Path, payload: Path, *options: str | Path, cwd: Path) -> Ran:
    """``runner replay … --yes --json``; run directories are made in ``cwd``."""
    return runner("replay", report, "--payload", payload, "--yes", "--json", "--quiet", *options, cwd=cwd)
