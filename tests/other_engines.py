"""Engines of a test's own, of other kinds than the host's: podman, Docker with user namespaces, and both rootless.

Each is the first process of a PID namespace, in namespaces of its own for network and mounts: nothing outlives it,
and nothing of the host is changed, not even its list of users. Root is needed to start one.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import docker

USER, UID, SUBORDINATE = "rootless", 60123, 1_000_000
KNOWN_HOST = "only-in-the-engines-hosts"
_READY_SECONDS = 60.0
_CGROUPS = Path("/sys/fs/cgroup")
_NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_FILES = ('for file in hosts passwd group subuid subgid; do mount --bind "$0/$file" "/etc/$file"; done; '
          'exec "$@"')
# A change of user makes the kernel forget --kill-child.
_ROOTLESS = ("setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", "--pdeathsig", "keep")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class OtherEngine:
    """A running engine in ``place``; its socket is ``sock`` there. ``env`` is for commands that are to use it."""

    place: Path
    process: subprocess.Popen[bytes]
    env: Mapping[str, str] = field(repr=False)

    def client(self) -> docker.APIClient:
        """A connection of the caller's own, to be closed."""
        return docker.APIClient(base_url=self.env["DOCKER_HOST"], version="auto", timeout=60)

    def runner(self, *words: object) -> subprocess.CompletedProcess[str]:
        """The real command, on this engine; nothing it prints may be a traceback."""
        done = subprocess.run([sys.executable, "-m", "runner", *map(str, words)], env=self.env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done


@contextmanager
def with_images(opening: AbstractContextManager[OtherEngine]) -> Iterator[OtherEngine]:
    """The engine, with the images that commands need."""
    with opening as engine:
        built = engine.runner("images", "build", "command", "steward")
        assert built.returncode == 0, built.stderr
        yield engine


@contextmanager
def podman() -> Iterator[OtherEngine]:
    """Podman's API service, as root."""
    with _place() as place:
        with _running(place, [*_with_own_files(place), *_podman(place)]) as engine:
            yield engine
        _remove_cgroups("libpod_parent")


@contextmanager
def rootless_podman() -> Iterator[OtherEngine]:
    """Podman's API service as an ordinary user with subordinate ids."""
    with _place() as place, _running(place, [*_with_own_files(place), *_ROOTLESS, *_podman(place, "vfs")]) as engine:
        yield engine


@contextmanager
def remapped_docker() -> Iterator[OtherEngine]:
    """A Docker daemon whose containers have a user namespace."""
    group = f"runner-test-{secrets.token_hex(4)}"
    with _place() as place:
        command = [*_dockerd(place), "--userns-remap", USER, "--cgroup-parent", f"/{group}"]
        with _running(place, [*_with_own_files(place), *command]) as engine:
            yield engine
        _remove_cgroups(group)


@contextmanager
def rootless_docker() -> Iterator[OtherEngine]:
    """A Docker daemon of an ordinary user, in a network namespace that it shares with nobody."""
    with _place() as place:
        daemon = " ".join((*_dockerd(place), "--rootless", "--bridge", "none", "--iptables=false",
                           "--storage-driver", "vfs"))
        # Links of its own /run. Without systemd it uses no control groups, whatever the host might let it have.
        inner = f"rm -f /run/docker /run/containerd /run/xtables.lock /run/systemd; exec {daemon}"
        kit = ("rootlesskit", "--state-dir", f"{place}/exec/kit", "--net=host", "--copy-up=/etc", "--copy-up=/run",
               "--propagation=rslave", "sh", "-c", inner)
        with _running(place, [*_with_own_files(place), *_ROOTLESS, *kit]) as engine:
            yield engine


def _podman(place: Path, driver: str = "overlay") -> list[str]:
    return ["podman", "--root", f"{place}/data", "--runroot", f"{place}/exec/run", "--tmpdir", f"{place}/exec/tmp",
            "--storage-driver", driver, "--cgroup-manager", "cgroupfs", "--runtime", "runc",
            "system", "service", "--time=0", f"unix://{place}/exec/sock"]


def _dockerd(place: Path) -> list[str]:
    return ["dockerd", "--data-root", f"{place}/data", "--exec-root", f"{place}/exec/run", "--pidfile",
            f"{place}/exec/pid", "--host", f"unix://{place}/exec/sock"]


def _with_own_files(place: Path) -> list[str]:
    """In a mount namespace: one more user, with ids to give away, and a host that nobody else knows."""
    return ["sh", "-c", _FILES, str(place / "etc")]


@contextmanager
def _place() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="engine-"))
    try:
        place.chmod(0o711)
        etc = place / "etc"
        etc.mkdir()
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n192.0.2.9 {KNOWN_HOST}\n")
        (etc / "passwd").write_text(f"{Path('/etc/passwd').read_text()}{USER}:x:{UID}:{UID}::{place}/home:/bin/sh\n")
        (etc / "group").write_text(f"{Path('/etc/group').read_text()}{USER}:x:{UID}:\n")
        for file in ("subuid", "subgid"):
            (etc / file).write_text(f"{USER}:{SUBORDINATE}:65536\n")
        for folder in ("data", "exec", "home"):
            (place / folder).mkdir()
            os.chown(place / folder, UID, UID)
        (place / "storage.conf").write_text(
            f'[storage]\ndriver = "vfs"\nrunroot = "{place}/exec/run"\ngraphroot = "{place}/data"\n')
        (place / "containers.conf").write_text('[engine]\nevents_logger = "file"\n')
        yield place
    finally:
        shutil.rmtree(place)


@contextmanager
def _running(place: Path, command: Sequence[str]) -> Iterator[OtherEngine]:
    env = {**os.environ, "DOCKER_HOST": f"unix://{place}/exec/sock"}
    own = {"PATH": _PATH, "HOME": f"{place}/home", "XDG_RUNTIME_DIR": f"{place}/exec", "USER": USER,
           "CONTAINERS_CONF": f"{place}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{place}/storage.conf"}
    with open(place / "log", "ab") as log:
        # Podman's monitor leaves a file named oom wherever it was started: that is why podman knows of no memory kill.
        process = subprocess.Popen([*_NAMESPACES, *command], cwd=place / "exec", env=own, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
    try:
        _wait_until_it_answers(process, place, env)
        yield OtherEngine(place, process, env)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _wait_until_it_answers(process: subprocess.Popen[bytes], place: Path, env: Mapping[str, str]) -> None:
    end = time.monotonic() + _READY_SECONDS
    while subprocess.run(["docker", "version"], env=env, capture_output=True, check=False).returncode != 0:
        assert process.poll() is None, (place / "log").read_text(errors="replace")[-3000:]
        assert time.monotonic() < end, (place / "log").read_text(errors="replace")[-3000:]
        threading.Event().wait(0.1)


def _remove_cgroups(group: str) -> None:
    """Empty ones are all that is left of an engine outside of its folder; one that another engine uses stays."""
    for root in (*_CGROUPS.glob(f"*/{group}"), *_CGROUPS.glob(group)):
        for folder, _, _ in os.walk(root, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)
