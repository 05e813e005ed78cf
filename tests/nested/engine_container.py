"""Docker-in-Docker: an engine in a container that has all capabilities, yet is not privileged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from certificates import Certificates
from docker.types import Mount
from testcontainers.core.container import DockerContainer

CONTROLLER = 10002
"""User and group of the controller's image, who may use the engine's socket."""

SOCKET = "docker.sock"
TLS_PORT = 2376
LABEL = "io.sandbox-runner.test"
"""On each volume that these tests make."""

_READY_SECONDS = 60.0
_RIGHTS = {
    # A privileged container also needs CAP_SYS_RESOURCE of its host, which not every host has itself.
    "cap_add": ["ALL"], "cap_drop": ["SYS_RESOURCE"],
    "security_opt": ["seccomp=unconfined", "apparmor=unconfined"],
    "cgroupns": "private", "device_cgroup_rules": ["a *:* rwm"],
}


@dataclass(frozen=True)
class EngineContainer:
    """A nested engine that answers. ``sockets`` is the host's folder with its socket."""

    container: DockerContainer
    sockets: Path
    certificates: Certificates

    def by_socket(self) -> dict[str, str]:
        """The environment of a command that uses it by its socket."""
        return _environment(DOCKER_HOST=f"unix://{self.sockets}/{SOCKET}")

    def by_tls(self, certificates: Path | None = None) -> dict[str, str]:
        """The environment of a command that uses it by TCP with TLS."""
        return _environment(DOCKER_HOST=f"tcp://127.0.0.1:{self.port}", DOCKER_TLS_VERIFY="1",
                            DOCKER_CERT_PATH=str(certificates or self.certificates.client))

    @property
    def port(self) -> int:
        """Of TCP with TLS, on this machine's loopback."""
        return int(self.container.get_exposed_port(TLS_PORT))

    def load_our_images(self) -> None:
        """From the cache that the host's build left."""
        subprocess.run([sys.executable, "-m", "runner", "images", "build", "command", "steward"], env=self.by_socket(),
                       check=True, capture_output=True)

    def objects(self) -> list[str]:
        """Containers and volumes on it, of whomever."""
        return [line for words in (["ps", "-aq"], ["volume", "ls", "-q"]) for line in subprocess.run(
            ["docker", *words], env=self.by_socket(), capture_output=True, text=True, check=True).stdout.split()]


def _environment(**variables: str) -> dict[str, str]:
    """This process's, with another engine."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("DOCKER_")}
    return {**others, **variables}


@contextmanager
def engine_container(image: str, certificates: Certificates) -> Iterator[EngineContainer]:
    """Start one; return once it answers."""
    # Not below pytest's folders: the path of a socket has at most 107 bytes.
    sockets = Path(tempfile.mkdtemp(prefix="nested-"))
    sockets.chmod(0o755)  # the controller's container is another user
    try:
        with started(image, certificates, sockets) as container:
            engine = EngineContainer(container, sockets, certificates)
            _wait(engine)
            yield engine
    finally:
        shutil.rmtree(sockets)


def started(image: str, certificates: Certificates, sockets: Path) -> DockerContainer:
    """The container, to be entered."""
    container = DockerContainer(image, name=f"sandbox-runner-{sockets.name}")
    container.with_kwargs(**_RIGHTS, user="0:0", entrypoint="start-engine",
                          mounts=[scratch("/var/lib/docker")])
    container.with_volume_mapping(str(sockets), "/run/engine", "rw")
    container.with_volume_mapping(str(certificates.engine), "/certificates", "ro")
    container.ports[str(TLS_PORT)] = ("127.0.0.1", None)  # type: ignore[assignment]  # this machine's, not all the world's
    container.with_command([
        "--host", f"unix:///run/engine/{SOCKET}", "--group", str(CONTROLLER), "--host", f"tcp://0.0.0.0:{TLS_PORT}",
        # Its own bridge must not be taken for the network that it is on.
        "--bip", "192.168.213.1/24",
        "--tlsverify", "--tlscacert", "/certificates/ca.pem", "--tlscert", "/certificates/cert.pem", "--tlskey",
        "/certificates/key.pem"])
    return container


def scratch(target: str) -> Mount:
    """A volume without a name, that goes with its container."""
    return Mount(target, None, type="volume", labels={LABEL: "nested"})


def _wait(engine: EngineContainer) -> None:
    end = time.monotonic() + _READY_SECONDS
    while subprocess.run(["docker", "version"], env=engine.by_socket(), capture_output=True, check=False).returncode:
        logs = b"\n".join(engine.container.get_logs()).decode(errors="replace")
        assert time.monotonic() < end, logs[-3000:]
        assert engine.container.get_wrapped_container().status in ("created", "running"), logs[-3000:]
        Event().wait(0.1)
