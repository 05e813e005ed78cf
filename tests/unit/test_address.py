"""Which engine the environment names, and by what way it is reached."""

from pathlib import Path

import docker
import pytest

from runner.errors import EngineUnavailable
from runner.sandbox.backends.docker import engine
from runner.sandbox.backends.docker.address import engine_address, reached_by


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(("environment", "host", "reached"), [
    ({}, "unix:///var/run/docker.sock", "unix"),
    ({"DOCKER_HOST": ""}, "unix:///var/run/docker.sock", "unix"),
    ({"DOCKER_HOST": "unix:///a b"}, "unix:///a b", "unix"),
    ({"DOCKER_HOST": "unix:///s", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/nowhere"}, "unix:///s", "unix"),
    ({"DOCKER_HOST": "tcp://h:1"}, "tcp://h:1", "tcp"),
    ({"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "", "DOCKER_CERT_PATH": ""}, "tcp://h:1", "tcp"),
])
def test_without_tls(environment: dict[str, str], host: str, reached: str) -> None:
    address = engine_address(environment)
    assert (address.host, address.reached, address.certificates) == (host, reached, None)


@pytest.mark.parametrize("scheme", ["tcp", "https"])
def test_with_tls(certificates: Path, scheme: str) -> None:
    address = engine_address({"DOCKER_HOST": f"{scheme}://h:1", "DOCKER_TLS_VERIFY": "1",
                              "DOCKER_CERT_PATH": str(certificates)})
    assert (address.reached, address.certificates) == ("tcp+tls", certificates)


def test_certificates_are_looked_for_at_home(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(certificates.parent))
    certificates.rename(certificates.parent / ".docker")
    address = engine_address({"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1"})
    assert address.certificates == certificates.parent / ".docker"


@pytest.mark.parametrize("host", ["ssh://me@there", "npipe:////./pipe/docker", "h:2375", "/run/docker.sock", "fd://\x1b[31m"])
def test_another_way_is_refused(host: str) -> None:
    with pytest.raises(EngineUnavailable, match="only unix:// and tcp://") as caught:
        engine_address({"DOCKER_HOST": host})
    assert "\x1b" not in caught.value.message
    assert "ssh -N -L" in caught.value.hint


@pytest.mark.parametrize("environment", [
    {"DOCKER_HOST": "https://h:1"}, {"DOCKER_HOST": "tcp://h:1", "DOCKER_CERT_PATH": "/c"},
    {"DOCKER_HOST": "tcp://h:1", "DOCKER_CERT_PATH": "/c", "DOCKER_TLS_VERIFY": ""}])
def test_an_engine_that_would_not_be_checked_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(EngineUnavailable, match="would not be checked"):
        engine_address(environment)


def test_missing_certificates_are_named(certificates: Path) -> None:
    (certificates / "key.pem").unlink()
    with pytest.raises(EngineUnavailable, match=r"key\.pem not found"):
        engine_address({"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(certificates)})


@pytest.mark.parametrize(("base_url", "reached"), [
    ("http+docker://localhost", "unix"), ("http://127.0.0.1:2375", "tcp"), ("https://127.0.0.1:2376", "tcp+tls")])
def test_the_way_of_a_connection(base_url: str, reached: str) -> None:
    assert reached_by(base_url) == reached


def test_the_environment_has_no_say_in_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies and other authorities are for other connections."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/other/ca.pem")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:1")
    client: docker.APIClient = engine._Client(base_url="tcp://engine:1", version="1.41")
    client.verify = "/our/ca.pem"
    settings = client.merge_environment_settings("http://engine:1/info", {}, None, None, None)
    client.close()
    assert (settings["verify"], dict(settings["proxies"])) == ("/our/ca.pem", {})
