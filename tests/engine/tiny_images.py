"""One-file images, made with the project's own archive writer and loaded for the length of a test."""

from __future__ import annotations

import hashlib
import io
import secrets
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import docker

from runner.images.archive import ImageConfig, write_archive
from runner.images.layer import Layer
from runner.images.lock import ImageRecord
from runner.images.naming import host_platform
from runner.sandbox.backends.docker.imagestore import EngineImages

_OURS = host_platform().partition("/")[2]


class TinyImages:
    """Makes images that nobody else has, and removes them at the end."""

    def __init__(self, api: docker.APIClient, folder: Path, cleanup: ExitStack) -> None:
        self._images = EngineImages(api)
        self._folder = folder
        self._cleanup = cleanup

    def tag(self) -> str:
        """A name that is free."""
        return f"sandbox-runner-test/{secrets.token_hex(6)}:1"

    def make(self, tag: str, *, architecture: str = _OURS, **labels: str) -> ImageRecord:
        """Load an image under ``tag``; its content, and so its ID, is like no other's."""
        record = self.archive(tag, architecture=architecture, labels=labels)
        with (self._folder / "image.tar").open("rb") as archive:
            self._images.load(archive, record)
        self._cleanup.callback(self._images.remove, record.id)
        return record

    def archive(self, tag: str, *, architecture: str = _OURS, labels: dict[str, str] | None = None) -> ImageRecord:
        """Write such an image's archive to ``image.tar`` in the folder, without loading it."""
        layer = self._layer()
        config = ImageConfig(architecture=architecture, env=(("PATH", "/bin"),), user="10001:10001", workdir="/",
                             labels=tuple(sorted((labels or {}).items())))
        with (self._folder / "image.tar").open("wb") as out:
            identity = write_archive(out, [layer], config, tag)
        return ImageRecord(recipe="0" * 64, suite="none", id=identity.id, manifest=identity.manifest,
                           layer=layer.sha256, size=layer.size, packages={})

    def _layer(self) -> Layer:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            content = secrets.token_bytes(16)
            entry = tarfile.TarInfo("file")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        path = self._folder / "layer.tar"
        path.write_bytes(buffer.getvalue())
        return Layer(path, hashlib.sha256(buffer.getvalue()).hexdigest(), len(buffer.getvalue()))


@contextmanager
def tiny_images(api: docker.APIClient, folder: Path) -> Iterator[TinyImages]:
    """Images for one test; each is gone afterwards."""
    with ExitStack() as cleanup:
        yield TinyImages(api, folder, cleanup)
