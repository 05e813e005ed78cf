"""TLS that does not fit: one clear line, and nothing was sent."""

from __future__ import annotations

import subprocess
import sys

import pytest
from certificates import Certificates
from engine_container import EngineContainer


def gc(environment: dict[str, str]) -> tuple[int, str]:
    """A command that needs nothing but the engine: its exit code and its one line."""
    done = subprocess.run([sys.executable, "-m", "runner", "gc"], env=environment, capture_output=True, text=True,
                          check=False)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (0 if done.returncode == 0 else 1), done.stderr
    return done.returncode, done.stderr


def test_both_sides_are_proved(engine: EngineContainer) -> None:
    assert gc(engine.by_tls()) == (0, "")


@pytest.mark.parametrize(("who", "words"), [
    ("other_authority", "its certificate is not one that our ca.pem vouches for"),
    ("unknown_client", "it must know the authority of our cert.pem"),
])
def test_a_stranger_is_refused(engine: EngineContainer, certificates: Certificates, who: str, words: str) -> None:
    code, line = gc(engine.by_tls(getattr(certificates, who)))
    assert (code, words in line) == (2, True), line


def test_an_engine_under_another_name_is_refused(engine: EngineContainer) -> None:
    """The certificate is for this address, not for every name that leads here."""
    code, line = gc(engine.by_tls() | {"DOCKER_HOST": f"tcp://localhost:{engine.port}"})
    assert (code, "not one that our ca.pem vouches for" in line) == (2, True), line


def test_other_authorities_of_the_environment_do_not_count(engine: EngineContainer, certificates: Certificates) -> None:
    """What HTTP libraries are told to trust says nothing about engines, either way; nor does a proxy."""
    others = {"REQUESTS_CA_BUNDLE": str(certificates.other_authority / "ca.pem"), "HTTPS_PROXY": "http://127.0.0.1:9"}
    assert gc(engine.by_tls() | others) == (0, "")
    right = {"REQUESTS_CA_BUNDLE": str(certificates.client / "ca.pem")}
    assert gc(engine.by_tls(certificates.other_authority) | right)[0] == 2


def test_without_tls_nothing_is_answered(engine: EngineContainer) -> None:
    code, line = gc(engine.by_socket() | {"DOCKER_HOST": f"tcp://127.0.0.1:{engine.port}"})
    assert (code, "HTTP request to an HTTPS server" in line) == (2, True), line


def test_tls_that_checks_nobody_is_refused(engine: EngineContainer) -> None:
    code, line = gc(engine.by_tls() | {"DOCKER_TLS_VERIFY": ""})
    assert (code, "would not be checked" in line) == (2, True), line
