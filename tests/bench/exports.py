"""``export``: a result of 1,000 runs, checked and exported in each format, against only parsing that result."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from runner.reports.formats import FORMATS
from tests.bench.measure import Ratio, compare
from tests.stored_runs import FAILS, PASSES, make_evidence

RUNS = 1_000
MUST = 40.0


def exports(folder: Path) -> Iterator[Ratio]:
    """Whole processes on both sides. Ours also recomputes the digests of about 3,000 files."""
    directory = make_evidence(folder, [FAILS, FAILS, FAILS, PASSES] * (RUNS // 4)).directory
    parse = f"import json; json.load(open({str(directory / 'result.json')!r}))"

    def theirs() -> None:
        subprocess.run([sys.executable, "-c", parse], check=True)

    def ours(form: str) -> None:
        subprocess.run([sys.executable, "-m", "runner", "export", directory, "--format", form, "-o", folder / form],
                       check=True)

    for name in FORMATS:
        yield compare(f"export.{name}", lambda form=name: ours(form), theirs, must=MUST)  # type: ignore[misc]
