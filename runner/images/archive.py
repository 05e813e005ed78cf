"""An image archive that every engine reads alike, as a pure function of layers and configuration.

It is two formats in one: an OCI image layout, which a containerd image store loads (there the image ID is
the *manifest* digest), and a ``docker save`` archive (``manifest.json``), which older engines and podman load
(there it is the *config* digest). Both digests are known here, before any engine saw the image.
Format: OCI Image Layout 1.0, OCI Image Manifest 1.0, Docker Image Specification 1.2.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from runner.images.inputs import CREATED, EPOCH
from runner.images.layer import Layer

_BLOBS = "blobs/sha256/"
_OCI = "application/vnd.oci.image."


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """What an image says of itself besides its layers. There is no room for ENTRYPOINT, CMD or VOLUME."""

    architecture: str
    env: tuple[tuple[str, str], ...]
    user: str
    workdir: str
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """Both names of the same image: ``sha256:`` and hex, of its config and of its manifest."""

    id: str
    manifest: str


def write_archive(out: BinaryIO, layers: Sequence[Layer], config: ImageConfig, tag: str) -> Identity:
    """Write the archive, with the lowest of ``layers`` first, and say what the image will be called."""
    config_blob = _config(config, layers)
    manifest_blob = _manifest(config_blob, layers)
    small = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json(_index(manifest_blob, tag)),
        "manifest.json": _json([{"Config": _BLOBS + _sha256(config_blob), "RepoTags": [tag],
                                 "Layers": [_BLOBS + layer.sha256 for layer in layers]}]),
        _BLOBS + _sha256(config_blob): config_blob,
        _BLOBS + _sha256(manifest_blob): manifest_blob,
    }
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(small):
            tar.addfile(_entry(name, len(small[name])), io.BytesIO(small[name]))
        for layer in layers:
            with layer.path.open("rb") as data:
                tar.addfile(_entry(_BLOBS + layer.sha256, layer.size), data)
    return Identity("sha256:" + _sha256(config_blob), "sha256:" + _sha256(manifest_blob))


def _config(config: ImageConfig, layers: Sequence[Layer]) -> bytes:
    return _json({
        "architecture": config.architecture, "os": "linux", "created": CREATED,
        "config": {"Env": [f"{name}={value}" for name, value in config.env], "User": config.user,
                   "WorkingDir": config.workdir, "Labels": dict(config.labels)},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.sha256}" for layer in layers]},
        "history": [{"created": CREATED, "created_by": "runner images build"} for _ in layers],
    })


def _manifest(config_blob: bytes, layers: Sequence[Layer]) -> bytes:
    return _json({
        "schemaVersion": 2, "mediaType": _OCI + "manifest.v1+json",
        "config": _descriptor("config.v1+json", _sha256(config_blob), len(config_blob)),
        "layers": [_descriptor("layer.v1.tar", layer.sha256, layer.size) for layer in layers],
    })


def _index(manifest_blob: bytes, tag: str) -> dict[str, Any]:
    named = _descriptor("manifest.v1+json", _sha256(manifest_blob), len(manifest_blob))
    annotations = {"io.containerd.image.name": f"docker.io/{tag}",
                   "org.opencontainers.image.ref.name": tag.partition(":")[2]}
    return {"schemaVersion": 2, "mediaType": _OCI + "index.v1+json",
            "manifests": [{**named, "annotations": annotations}]}


def _descriptor(kind: str, sha256: str, size: int) -> dict[str, Any]:
    return {"mediaType": _OCI + kind, "digest": f"sha256:{sha256}", "size": size}


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o644, EPOCH
    return entry


def _json(document: Any) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
