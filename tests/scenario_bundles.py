"""Our own load scenarios, each with an application that is right or wrong in a named way.

``tests/data/scenarios/NAME`` has ``scenario/``, ``app/`` and ``expect.json``: for each mode of the application the
verdict, its exit code, and what becomes of each assertion.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "scenarios"


@dataclass(frozen=True)
class Bundle:
    """One of them."""

    name: str

    @cached_property
    def labels(self) -> Mapping[str, Any]:
        """``expect.json``."""
        found: dict[str, Any] = json.loads((FOLDER / self.name / "expect.json").read_text(encoding="utf-8"))
        return found

    @property
    def scenario(self) -> Path:
        """The directory with the manifest."""
        return FOLDER / self.name / "scenario"

    @property
    def secrets(self) -> list[str]:
        """Values that no file of a run may hold: all that is given, but for origins."""
        return [value for value in self.labels["env"].values() if "://" not in value]

    def words(self, mode: str) -> list[str]:
        """Of ``runner verify``, but for seeds and places of output."""
        command = [*self.labels["server_command"], *self.labels["modes"][mode]]
        given = [word for option, values in (("--env", self.labels["env"]), ("--target-env", self.labels["target_env"]))
                 for name, value in values.items() for word in (option, f"{name}={value}")]
        return ["verify", str(self.scenario), "--payload", str(FOLDER / self.name / "app"),
                "--target-command", shlex.join(command), "--target-url", self.labels["target"], "--json", "--quiet",
                *given]


BUNDLES = tuple(Bundle(path.parent.name) for path in sorted(FOLDER.glob("*/expect.json")))
