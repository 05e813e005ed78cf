"""The init under test, built once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from init_harness import compile_init, why_no_namespace


@pytest.fixture(scope="session")
def public_folder() -> Iterator[Path]:
    """A folder that the workload's uid can reach; pytest's own cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="runner-init-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def init(public_folder: Path) -> Path:
    reason = why_no_namespace()
    if reason:
        pytest.fail(f"the init's tests need root and PID namespaces (unshare --pid): {reason}")
    return compile_init(public_folder)
