"""The public failures of ``docs/cases`` do what their pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "cases"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/run.sh"))
VOLATILE = (
    (r"sha256:[0-9a-f]{64}", "<image>"), (r"\b[0-9a-f]{64}\b", "<digest>"), (r"\b[0-9a-f]{12}\b", "<short>"),
    (r"/\S*/\.runner/runs/run_\w+", "<evidence>"), (r"\brun \d+ ended\b", "run <n> ended"))
"""What differs from machine to machine and from time to time. Of runs under way at once any may end first."""


def settled(text: str) -> list[str]:
    """The lines of an output, with names for what is volatile."""
    for pattern, name in VOLATILE:
        text = re.sub(pattern, name, text)
    return text.splitlines()


def shown(case: str) -> str:
    """The output that the case's page shows."""
    page = (FOLDER / case / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


def test_every_kind_of_failure_has_a_case() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(CASES) >= 3
    assert set(CASES) <= set(re.findall(r"\]\(([\w-]+)/README\.md\)", page))


@pytest.mark.parametrize("case", CASES)
def test_a_case_prints_what_its_page_shows(case: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNNER_")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    done = subprocess.run([FOLDER / case / "run.sh"], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert settled(done.stdout) == settled(shown(case))
    assert list(tmp_path.iterdir()) == []
