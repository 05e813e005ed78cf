"""ReproMin's samples as its users have them: payload metadata restored, reports that may be edited."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "data" / "repomin"
NAMES = {"a": ("a-exit-and-match", "ledger-repro"), "b": ("b-python-signature", "pricing-repro"),
         "c": ("c-legacy", "config-repro"), "d": ("d-docker", "flags-repro")}
_NEW_YEAR_2024 = 1_704_067_200 * 10**9
"""When every entry of the samples was last changed, nanoseconds."""

Report = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A payload and its sidecar report, side by side in a directory of their own."""

    payload: Path
    report: Path

    def edit(self, change: Callable[[Report], object]) -> None:
        """Change the report in place, written as ReproMin writes it."""
        document = json.loads(self.report.read_text(encoding="utf-8"))
        change(document)
        self.report.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def copy_sample(letter: str, place: Path) -> Sample:
    """A fresh copy of sample ``a``, ``b``, ``c`` or ``d`` below ``place``."""
    folder, name = NAMES[letter]
    payload = place / name
    shutil.copytree(FOLDER / folder / name, payload, symlinks=True)
    shutil.copytree(FOLDER / folder / f"{name}.repomin", place / f"{name}.repomin")
    restore_metadata(payload)
    return Sample(payload, place / f"{name}.repomin" / "report.json")


def restore_metadata(payload: Path) -> None:
    """Modes and times that ``tree_sha256`` was computed for; the deepest first, the root last."""
    entries = sorted(payload.rglob("*"), key=lambda path: len(path.parts), reverse=True)
    for path in [*entries, payload]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, ns=(_NEW_YEAR_2024, _NEW_YEAR_2024), follow_symlinks=False)
