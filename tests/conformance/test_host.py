from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from runner.sandbox.backends.conformance import BEHAVIOURS, Behaviour, Subject, check
from runner.sandbox.backends.host import HostBackend
from runner.sandbox.policy import load_policy


def processes() -> Iterator[tuple[str, bytes]]:
    """Of each process that still has something to show: its number, and its environment and command line."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{number}/environ").read_bytes() + Path(f"/proc/{number}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        yield number, text


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    token = secrets.token_hex(16)

    def leftovers() -> Sequence[str]:
        alive = [f"process {number}" for number, text in processes() if token.encode() in text]
        return alive + [str(path) for path in tmp_path.iterdir()]

    def exposures(secret: str) -> Sequence[str]:
        """The workload is known by its token; nobody else may have the secret."""
        return [f"process {number}" for number, text in processes()
                if secret.encode() in text and token.encode() not in text]

    return Subject(backend=lambda _: HostBackend(temp_root=str(tmp_path)), policy=load_policy("default"),
                   leftovers=leftovers, exposures=exposures, env=(("CONFORMANCE_TOKEN", token),))


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_the_host_backend_shows(behaviour: Behaviour, subject: Subject) -> None:
    check(behaviour, subject)
