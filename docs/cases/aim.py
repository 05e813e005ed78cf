"""Point a native report at another payload: the same contract, asked of another version.

A report belongs to one payload by fingerprint, and ``runner replay`` refuses any other. Whoever wants to know
whether a fixed version still fails asks it with a report of its own.

usage: aim.py REPORT PAYLOAD NEW
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(report: str, payload: str, new: str) -> None:
    """Write ``new``: ``report`` with what ``runner fingerprint`` says of ``payload``."""
    said = subprocess.run(["runner", "fingerprint", payload, "--json"], check=True, capture_output=True).stdout
    seen = json.loads(said)
    document = json.loads(Path(report).read_text(encoding="utf-8"))
    document["payload"] = {name: seen[name] for name in ("files", "bytes", "entries", "fingerprint")}
    Path(new).write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


main(*sys.argv[1:])
