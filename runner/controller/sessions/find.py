"""Which recorded session is meant: a run directory, an ``incident.json``, the ID of a run, or ``latest``."""

from __future__ import annotations

from pathlib import Path

from runner.errors import EvidenceAltered, UsageError, printable
from runner.evidence.database import store_root
from runner.evidence.index import Index, resolve
from runner.evidence.known import Finished, load
from runner.incidents.places import INCIDENT_FILE, LATEST, LOKI_RUNS


def find_incident(wanted: str) -> str:
    """The run directory or file. ``latest`` is the newest run with an incident in the store, else the newest of LOKI's
    in the current directory, as ``loki replay`` has it. Raises UsageError.
    """
    if wanted == LATEST:
        return str(_latest())
    if Path(wanted).exists():
        return wanted
    if "/" not in wanted and wanted.startswith("run_"):
        for root in (store_root() / "runs", LOKI_RUNS):
            if (root / wanted / INCIDENT_FILE).is_file():
                return str(root / wanted)
    raise UsageError(f"{printable(wanted)}: there is no such file, run directory or run",
                     hint="`runner runs list` shows the runs that are there")


def is_known(incident: str) -> bool:
    """Whether this store recorded the session, and its evidence is as it was: then what it says of this machine, such
    as where the payload lies, is our own word. Raises SetupError.
    """
    folder = Path(incident)
    place = str(folder if folder.is_dir() else folder.parent)
    try:
        with Index(store_root()) as index:
            return resolve(index, place) is not None and isinstance(load(index, place), Finished)
    except (EvidenceAltered, UsageError):
        return False


def _latest() -> Path:
    for root in (store_root() / "runs", LOKI_RUNS):
        found = _runs_in(root)
        if found:
            return max(found, key=lambda path: ((path / INCIDENT_FILE).stat().st_mtime_ns, path.name))
    raise UsageError("latest: no recorded session is there", hint="record one with `runner chaos`, or name a directory")


def _runs_in(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if (path / INCIDENT_FILE).is_file() and not path.is_symlink()]
    except OSError:
        return []
