"""An engine of a test's own, that may be killed. It shares nothing with the host's: not the network namespace (a
second daemon would take the first one's bridge away), not processes, mounts or cgroups.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_READY_SECONDS = 60.0
_CGROUPS = Path("/sys/fs/cgroup")


class SecondEngine:
    """Started by :meth:`start`, ended by :meth:`kill`; its images, containers and volumes outlive both. ``runtimes``
    are further ones that it offers: name and command line.
    """

    def __init__(self, place: Path, runtimes: Mapping[str, Sequence[str]]) -> None:
        self._place = place
        self._config = {"runtimes": {name: {"path": path, "runtimeArgs": arguments}
                                     for name, (path, *arguments) in runtimes.items()}}
        self._group = f"runner-test-{secrets.token_hex(4)}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def env(self) -> dict[str, str]:
        """The environment of a command that is to use this engine."""
        return {**os.environ, "DOCKER_HOST": f"unix://{self._place}/sock"}

    def start(self) -> None:
        """Return once it answers. Its first process is the first of a PID namespace: nothing survives it."""
        if self._process is not None:
            return
        # In a new PID namespace the old numbers belong to others, whom the engine would take for its own.
        for stale in ("pid", "exec/containerd/containerd.pid"):
            (self._place / stale).unlink(missing_ok=True)
        (self._place / "daemon.json").write_text(json.dumps(self._config))
        with open(self._place / "log", "ab") as log:
            self._process = subprocess.Popen(
                ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "dockerd",
                 "--config-file", f"{self._place}/daemon.json",
                 "--data-root", f"{self._place}/data", "--exec-root", f"{self._place}/exec",
                 "--pidfile", f"{self._place}/pid", "--host", f"unix://{self._place}/sock",
                 "--cgroup-parent", f"/{self._group}", "--containerd-namespace", self._group,
                 "--containerd-plugins-namespace", f"{self._group}-plugins"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + _READY_SECONDS
        while subprocess.run(["docker", "version"], env=self.env, capture_output=True, check=False).returncode != 0:
            assert self._process.poll() is None, self._log()
            assert time.monotonic() < end, self._log()
            threading.Event().wait(0.1)

    def kill(self) -> None:
        """SIGKILL, as the kernel does it when memory runs out."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _log(self) -> str:
        return (self._place / "log").read_text(errors="replace")[-3000:]

    def remove_cgroups(self) -> None:
        """Empty ones are all that is left of it outside of its folder."""
        for root in (*_CGROUPS.glob(f"*/{self._group}"), *_CGROUPS.glob(self._group)):
            for folder, _, _ in os.walk(root, topdown=False):
                os.rmdir(folder)


@contextmanager
def second_engine(runtimes: Mapping[str, Sequence[str]] | None = None) -> Iterator[SecondEngine]:
    """A running engine without images."""
    place = Path(tempfile.mkdtemp(prefix="engine-"))
    engine = SecondEngine(place, runtimes or {})
    try:
        engine.start()
        yield engine
    finally:
        engine.kill()
        engine.remove_cgroups()
        shutil.rmtree(place)
