"""The archive is a pure function of layer and configuration, and says itself what it will be called."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.images.archive import Identity, ImageConfig, write_archive
from runner.images.layer import Layer

CONFIG = ImageConfig(architecture="amd64", env=(("PATH", "/usr/bin:/bin"),), user="10001:10001",
                     workdir="/workspace", labels=(("io.sandbox-runner.image", "tiny"),))
TAG = "sandbox-runner/tiny:0123456789ab"


def layer_of(tmp_path: Path, content: bytes) -> Layer:
    path = tmp_path / f"{hashlib.sha256(content).hexdigest()}.tar"
    path.write_bytes(content)
    return Layer(path, hashlib.sha256(content).hexdigest(), len(content))


def wrap(layer: Layer, config: ImageConfig = CONFIG) -> tuple[Identity, bytes]:
    out = io.BytesIO()
    return write_archive(out, [layer], config, TAG), out.getvalue()


def members(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        found = {member.name: tar.extractfile(member) for member in tar.getmembers()}
        return {name: stream.read() for name, stream in found.items() if stream is not None}


def test_same_inputs_give_the_same_bytes_and_id(tmp_path: Path) -> None:
    layer = layer_of(tmp_path, b"layer")
    assert wrap(layer) == wrap(layer)


@pytest.mark.parametrize("other", [
    replace(CONFIG, architecture="arm64"),
    replace(CONFIG, env=()),
    replace(CONFIG, user="10002:10002"),
    replace(CONFIG, workdir="/"),
    replace(CONFIG, labels=(("io.sandbox-runner.image", "other"),)),
])
def test_every_part_of_the_config_is_in_the_id(tmp_path: Path, other: ImageConfig) -> None:
    layer = layer_of(tmp_path, b"layer")
    assert wrap(layer)[0] != wrap(layer, other)[0]


def test_the_layer_is_in_the_id(tmp_path: Path) -> None:
    assert wrap(layer_of(tmp_path, b"one"))[0] != wrap(layer_of(tmp_path, b"two"))[0]


def test_every_blob_is_named_by_its_digest(tmp_path: Path) -> None:
    blobs = {name: data for name, data in members(wrap(layer_of(tmp_path, b"layer"))[1]).items()
             if name.startswith("blobs/sha256/")}
    assert len(blobs) == 3
    assert all(name.endswith(hashlib.sha256(data).hexdigest()) for name, data in blobs.items())


def test_both_formats_name_the_same_image(tmp_path: Path) -> None:
    identity, archive = wrap(layer_of(tmp_path, b"layer"))
    files = members(archive)
    [saved] = json.loads(files["manifest.json"])
    [indexed] = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(files["blobs/sha256/" + identity.manifest.removeprefix("sha256:")])
    assert indexed["digest"] == identity.manifest
    assert manifest["config"]["digest"] == identity.id
    assert saved["Config"] == "blobs/sha256/" + identity.id.removeprefix("sha256:")
    assert saved["RepoTags"] == [TAG]
    assert indexed["annotations"]["io.containerd.image.name"] == f"docker.io/{TAG}"


def config_of(archive: bytes, identity: Identity) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(members(archive)["blobs/sha256/" + identity.id.removeprefix("sha256:")])
    return document


def test_the_config_has_no_entry_point_command_or_volume(tmp_path: Path) -> None:
    identity, archive = wrap(layer_of(tmp_path, b"layer"))
    config = config_of(archive, identity)
    assert config["created"] == "2023-11-14T22:13:20Z"
    assert config["config"] == {"Env": ["PATH=/usr/bin:/bin"], "User": "10001:10001", "WorkingDir": "/workspace",
                                "Labels": {"io.sandbox-runner.image": "tiny"}}
