"""Images as an enemy would make them: on top of a small layer of ours that has Python, as one archive, loaded once."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from harness import engine

from runner.images.build import obtain
from runner.images.cache import cache_dir
from runner.images.inputs import load_inputs
from runner.resources import data_dir
from runner.sandbox.backends.docker.images import find_image
from runner.sandbox.image import ResolvedImage

_REPOSITORY = "sandbox-runner-adversary"


@dataclass(frozen=True)
class Hostile:
    """One image: what its configuration says, and what lies over our layer (links by name, files by name).

    Without ``on_top`` there is nothing else in it.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    on_top: bool = True


@contextmanager
def loaded(images: Mapping[str, Hostile]) -> Iterator[dict[str, ResolvedImage]]:
    """Load all of them; what had to be loaded is removed again."""
    tags = {name: f"{_REPOSITORY}/{name}:test" for name in images}
    told = list(engine().load_image(_archive({tags[name]: image for name, image in images.items()})))
    assert not any("error" in event for event in told), told
    try:
        yield {name: find_image(engine(), tag) for name, tag in tags.items()}
    finally:
        for tag in tags.values():
            engine().remove_image(tag, force=True)


def _archive(images: Mapping[str, Hostile]) -> IO[bytes]:
    """A ``docker save`` archive of several images that share their first layer."""
    out = io.BytesIO()
    built = obtain(load_inputs(data_dir("images"), "steward"), cache_dir())
    with tarfile.open(built.archive) as source, tarfile.open(fileobj=out, mode="w") as target:
        first = json.load(_member(source, "manifest.json"))[0]["Layers"][0]
        base = _member(source, first).read()
        layers = {_name(base): base}
        manifest = []
        for tag, image in images.items():
            own = _layer(image)
            layers[_name(own)] = own
            names = [_name(base), _name(own)] if image.on_top else [_name(own)]
            config = json.dumps(_config(image, names)).encode()
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            _add(target, name, config)
            manifest.append({"Config": name, "RepoTags": [tag], "Layers": names})
        for name, data in layers.items():
            _add(target, name, data)
        _add(target, "manifest.json", json.dumps(manifest).encode())
    out.seek(0)
    return out


def _config(image: Hostile, layers: list[str]) -> dict[str, Any]:
    platform = dict(zip(("os", "architecture"), engine_platform().split("/"), strict=True))
    return {**platform, "config": dict(image.config),
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{name.partition('.')[0]}" for name in layers]}}


def engine_platform() -> str:
    """Such as ``linux/amd64``."""
    version = engine().version()
    return f"{version['Os']}/{version['Arch']}"


def _layer(image: Hostile) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, target in image.links.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name, data in image.files.items():
            _add(tar, name, data)
    return out.getvalue()


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o755
    tar.addfile(member, io.BytesIO(data))


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    found = tar.extractfile(name)
    assert found is not None
    return found


def _name(layer: bytes) -> str:
    return f"{hashlib.sha256(layer).hexdigest()}.tar"
