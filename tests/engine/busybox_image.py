"""A local image called ``busybox:1.36``: the one that is there, or one made of a static busybox."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
from docker.errors import ImageNotFound

NAME = "busybox:1.36"
_LABEL = "io.sandbox-runner.test=busybox"
_APPLETS = ("sh", "basename", "cat", "echo", "env", "id", "ls", "sleep", "true")


@contextmanager
def busybox_image(place: Path) -> Iterator[str]:
    """The image's ID. What had to be made is removed again."""
    api = docker.APIClient()
    try:
        try:
            yield str(api.inspect_image(NAME)["Id"])
            return
        except ImageNotFound:
            repository, _, tag = NAME.partition(":")
            api.import_image_from_data(_layer(_busybox(place)), repository=repository, tag=tag,
                                       changes=[f"LABEL {_LABEL}"])
        try:
            yield str(api.inspect_image(NAME)["Id"])
        finally:
            api.remove_image(NAME)
    finally:
        api.close()


def _busybox(place: Path) -> bytes:
    """The program of Debian's package ``busybox-static``."""
    subprocess.run(["apt-get", "-qq", "download", "busybox-static"], cwd=place, check=True, capture_output=True)
    package = next(place.glob("busybox-static_*.deb"))
    subprocess.run(["dpkg-deb", "--extract", package, place / "busybox"], check=True)
    found = [path for path in (place / "busybox").rglob("busybox") if path.is_file() and "bin" in path.parts]
    return found[0].read_bytes()


def _layer(busybox: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        program = tarfile.TarInfo("bin/busybox")
        program.size, program.mode = len(busybox), 0o755
        tar.addfile(program, io.BytesIO(busybox))
        for applet in _APPLETS:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
    return out.getvalue()
