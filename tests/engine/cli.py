"""Run the real command as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as JSON."""
        return json.loads(self.out)


def runner(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> Ran:
    """``runner WORDS``, from any directory; nothing it prints may be a traceback."""
    done = subprocess.run([sys.executable, "-m", "runner", *map(str, words)], capture_output=True, text=True,
                          cwd=cwd, env=env, check=False, timeout=300, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)
