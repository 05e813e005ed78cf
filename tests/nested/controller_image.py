"""The controller's image by ``tools/controller-image``, and one command in it."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
from docker.errors import ImageNotFound
from engine_container import scratch
from testcontainers.core.container import DockerContainer

from runner.images.cache import cache_dir

ROOT = Path(__file__).parents[2]
HOME = "/home/controller"
PREFIX = "sandbox-runner-nested"


@contextmanager
def controller_image(api: docker.APIClient, base: str) -> Iterator[str]:
    """Its tag."""
    tag = f"{PREFIX}/controller:{secrets.token_hex(4)}"
    # A base is named in a Dockerfile by a name, not by a bare ID.
    named = f"{PREFIX}/base:{tag.rpartition(':')[2]}"
    api.tag(base, *named.rsplit(":", 1))
    try:
        built = subprocess.run([ROOT / "tools" / "controller-image", tag, named], capture_output=True, text=True,
                               check=False)
        assert built.returncode == 0, built.stdout + built.stderr
        yield tag
    finally:
        for name in (named, tag):
            with suppress(ImageNotFound):  # a build that failed
                api.remove_image(name)


@dataclass(frozen=True)
class Said:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Controller:
    """The controller as people run it: the image, the way to its engine, and a folder that is its place to work."""

    image: str
    place: Path
    environment: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *words: str) -> Said:
        """``runner WORDS`` in a container of its own, with the host's built images at hand."""
        container = DockerContainer(self.image, env=self.environment, name=f"{PREFIX}-{secrets.token_hex(4)}")
        container.with_command(list(words)).with_kwargs(**{
            "read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "working_dir": "/case",
            "mounts": [scratch(f"{HOME}/.runner")], **self.options})
        container.with_tmpfs_mount("/tmp")
        container.with_volume_mapping(str(self.place), "/case", "rw")
        container.with_volume_mapping(str(cache_dir()), f"{HOME}/.cache/sandbox-runner/images", "ro")
        for source, target in self.volumes.items():
            container.with_volume_mapping(source, target, "rw")
        with container:
            wrapped = container.get_wrapped_container()
            code = int(wrapped.wait()["StatusCode"])
            out, err = (wrapped.logs(stdout=first, stderr=not first).decode() for first in (True, False))
        assert "Traceback" not in err, err
        return Said(code, out, err)
