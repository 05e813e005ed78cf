"""Where a run happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

K6 = "/usr/bin/k6"
HELPER = Path("/opt/runner/driver/runtime.js")


@dataclass(frozen=True, slots=True)
class Place:
    """``folder`` has the job and the scenario, ``out`` gets what a run leaves. ``env`` is the driver's own environment,
    ``helper`` the runtime helper's file, and ``k6`` the program.
    """

    folder: Path
    out: Path
    env: Mapping[str, str]
    helper: Path = HELPER
    k6: str = K6
