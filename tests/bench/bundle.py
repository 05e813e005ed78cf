"""``bundle``: packing and unpacking against ``tar --zstd``, which proves nothing and checks nothing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runner.bundle.pack import pack
from runner.bundle.unpack import unpack_bundle
from runner.payload.seal import seal
from tests.bench.measure import Ratio, compare
from tests.bench.payloads import large
from tests.bench.trees import LIMITS
from tests.bundles import report_of


def bundle(folder: Path) -> Iterator[Ratio]:
    """10,000 files, 200 MB, both ways. Ours seals before it packs, and proves what it unpacks."""
    payload, ours, theirs = large(folder / "payload"), folder / "ours.repro", folder / "theirs.tar.zst"
    places = folder / "ours", folder / "theirs"
    report = report_of(seal(payload, LIMITS))

    def tar(*words: str | Path) -> None:
        subprocess.run(["tar", "--zstd", *words], check=True)

    def unpack_ours() -> None:
        shutil.rmtree(places[0], ignore_errors=True)
        unpack_bundle(ours, LIMITS, places[0])

    def unpack_theirs() -> None:
        shutil.rmtree(places[1], ignore_errors=True)
        places[1].mkdir()
        tar("-xf", theirs, "-C", places[1])

    yield compare("bundle.pack", lambda: pack(report, seal(payload, LIMITS), ours, report_path="report.json"),
                  lambda: tar("-cf", theirs, "-C", payload, "."), must=4.0, aim=2.0)
    yield compare("bundle.unpack", unpack_ours, unpack_theirs, must=4.0, aim=2.0)
