"""The way to the engine, as doctor and the evidence tell it."""

import pytest

from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.checkup import _reached


@pytest.mark.parametrize(("reached", "status", "words"), [
    ("unix", "ok", "socket"), ("tcp+tls", "ok", "proves both sides"), ("tcp", "warn", "owns the engine's host")])
def test_a_way_without_proof_is_a_warning(reached: str, status: str, words: str) -> None:
    found = _reached(BackendFacts(backend="docker", reached=reached))
    assert (found.status, words in found.seen) == (status, True)
    assert (found.fix != "") == (status == "warn")
