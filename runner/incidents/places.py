"""Names under which recorded sessions are found."""

from __future__ import annotations

from pathlib import Path
from typing import Final

INCIDENT_FILE: Final = "incident.json"
LATEST: Final = "latest"
"""The newest recorded session."""

LOKI_RUNS: Final = Path(".loki/runs")
"""Where LOKI keeps its run directories, from where it is called."""
