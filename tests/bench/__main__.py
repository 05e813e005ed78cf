"""``make bench``: prints a table and writes ``bench.json``; exit 1 when a bound is not met."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench.browser import browser
from tests.bench.bundle import bundle
from tests.bench.exports import exports
from tests.bench.listing import listing
from tests.bench.load_metrics import load_metrics
from tests.bench.load_runs import load_runs
from tests.bench.measure import Ratio, compare
from tests.bench.overhead import flood, overhead
from tests.bench.trees import free, payload_cost, tree


def startup(_: Path) -> Iterator[Ratio]:
    """``runner --help`` against the cost of importing click."""
    def run(*words: str) -> None:
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)

    yield compare("startup", lambda: run("-m", "runner", "--help"), lambda: run("-c", "import click"), must=3.0, runs=9)


BENCHMARKS: dict[str, Callable[[Path], Iterator[Ratio]]] = {
    "startup": startup, "listing": listing, "tree": tree, "payload": payload_cost, "bundle": bundle,
    "overhead": overhead, "flood": flood, "export": exports, "browser": browser, "load_metrics": load_metrics,
    "load": load_runs}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    ratios: list[Ratio] = []
    print(f"{'benchmark':<20} {'ours':>10} {'theirs':>10} {'ratio':>7} {'must':>6} {'aim':>6}")
    for name in names or list(BENCHMARKS):
        folder = Path(tempfile.mkdtemp(prefix="runner-bench-"))
        try:
            for ratio in BENCHMARKS[name](folder):
                ratios.append(ratio)
                print(f"{ratio.name:<20} {ratio.ours:>10.4g} {ratio.theirs:>10.4g} {ratio.ratio:>7.2f} "
                      f"{ratio.must:>6.2f} {ratio.aim or '':>6}" + ("" if ratio.holds else "  NOT MET"), flush=True)
        finally:
            free(folder)
    table = {ratio.name: {"ratio": round(ratio.ratio, 4), "must": ratio.must, "aim": ratio.aim, "runs": ratio.runs}
             for ratio in ratios}
    Path("bench.json").write_text(json.dumps(table, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0 if all(ratio.holds for ratio in ratios) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
