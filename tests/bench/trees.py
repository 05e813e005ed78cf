"""``tree`` and ``payload``: fingerprints against ``sha256sum``, volumes against ``docker cp``."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runner.payload.seal import SealLimits, seal
from runner.payload.treehash import tree_hashes
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.policy import load_policy
from tests.bench.measure import Ratio, compare, timed
from tests.bench.payloads import large

LIMITS = SealLimits(files=20_000, bytes=1 << 30, depth=64, name_bytes=255, path_bytes=4096, portable_names=False)
PAIRS = 3


def _shell(text: str, folder: Path) -> None:
    subprocess.run(["bash", "-o", "pipefail", "-c", text], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def tree(folder: Path) -> Iterator[Ratio]:
    """Both native digests, and ReproMin's pair, of 10,000 files and 200 MB."""
    payload = large(folder / "payload")
    yield compare("tree.native", lambda: seal(payload, LIMITS).fingerprint,
                  lambda: _shell("find . -type f -print0 | xargs -0 -P2 sha256sum", payload), must=0.8)
    yield compare("tree.repomin", lambda: tree_hashes(payload, LIMITS),
                  lambda: _shell("find . -type f -print0 | xargs -0 cat | sha256sum", payload), must=0.8)


def payload_cost(folder: Path) -> Iterator[Ratio]:
    """What that payload costs a run: copied in once, cloned, fingerprinted, compared, wiped; ten runs."""
    payload = large(folder / "payload")
    empty = folder / "empty"
    empty.mkdir()
    (empty / "x").write_text("x", encoding="utf-8")
    runs = 4

    def ours(of: Path) -> float:
        return timed(lambda: _bare_runs(of, runs)) / runs

    def theirs() -> float:
        return timed(lambda: _docker_cp(payload))

    ours(payload)
    theirs()
    pairs = [(ours(payload) - ours(empty), theirs()) for _ in range(PAIRS)]
    middle = sorted(pairs)[PAIRS // 2]
    yield Ratio("payload", middle[0], sorted(other for _, other in pairs)[PAIRS // 2], 0.35, None, PAIRS)


def _bare_runs(payload: Path, runs: int) -> None:
    backend = DockerBackend()
    plan = Plan(argv=("true",), cwd=".", env=(), policy=load_policy("default"), timeout=60.0, runs=runs, ahead=0,
                image=backend.resolve_image(None))
    with backend.open(plan, seal(payload, LIMITS)) as session:
        for index in range(1, runs + 1):
            run = session.prepare(index)
            run.execute()
            assert not run.inspect().changes
            run.discard()


def _docker_cp(payload: Path) -> None:
    image = DockerBackend().resolve_image(None).id
    name = f"runner-bench-{secrets.token_hex(4)}"
    subprocess.run(["docker", "create", "--name", name, image, "true"], check=True, stdout=subprocess.DEVNULL)
    try:
        _shell(f"tar cf - . | docker cp - {name}:/tmp", payload)
        for _ in range(2):
            _shell(f"docker cp {name}:/tmp - | sha256sum", payload)
    finally:
        subprocess.run(["docker", "rm", "-f", name], check=True, stdout=subprocess.DEVNULL)


def free(folder: Path) -> None:
    """Give the disk back between benchmarks."""
    shutil.rmtree(folder, ignore_errors=True)
    os.sync()
