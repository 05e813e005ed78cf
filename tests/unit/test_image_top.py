"""Images of two layers: what changes often lies over the rest, which is made once and kept."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
import yaml

from runner.errors import InputError
from runner.images.archive import ImageConfig, write_archive
from runner.images.cache import cached_base, keep_base
from runner.images.inputs import Inputs, gather
from runner.images.layer import Layer
from runner.images.lock import LayerRecord
from runner.images.recipe import parse_recipe

TOP = {"folder": "/opt/top", "needs": ["usr/bin/*"], "finish": ["tiny/compile.sh"],
       "files": [{"images": "tiny/*.py", "to": "/opt/top/"}]}
RECIPE = {"name": "tiny", "suite": "bookworm", "variant": "extract", "packages": ["base-files"], "env": {},
          "user": "1:1", "workdir": "/", "files": [{"images": "tiny/a.conf", "to": "/etc/a.conf"}], "top": TOP}


def inputs(root: Path, **changes: object) -> Inputs:
    (root / "tiny").mkdir(exist_ok=True)
    for name in ("a.conf", "driver.py", "compile.sh"):
        path = root / "tiny" / name
        path.write_text(path.read_text() if path.exists() else name)
    return gather(parse_recipe(yaml.safe_dump({**RECIPE, **changes}).encode(), "recipe.yaml"), root)


def layer(folder: Path, content: bytes) -> Layer:
    path = folder / "layer.tar"
    path.write_bytes(content)
    return Layer(path, hashlib.sha256(content).hexdigest(), len(content))


@pytest.mark.parametrize(("changed", "base_too"), [("driver.py", False), ("compile.sh", False), ("a.conf", True)])
def test_a_change_on_top_leaves_the_base_alone(tmp_path: Path, changed: str, base_too: bool) -> None:
    before = inputs(tmp_path)
    (tmp_path / "tiny" / changed).write_text("changed")
    after = inputs(tmp_path)
    assert after.digest != before.digest
    assert (after.base_digest != before.base_digest) == base_too


def test_what_the_top_is_made_in_and_where_is_in_the_digest(tmp_path: Path) -> None:
    before = inputs(tmp_path)
    for change in ({"needs": ["usr/*"]}, {"folder": "/opt"}, {"finish": []}):
        after = inputs(tmp_path, top={**TOP, **change})
        assert (after.digest != before.digest, after.base_digest) == (True, before.base_digest)


def test_an_image_without_a_top_has_one_digest(tmp_path: Path) -> None:
    only = inputs(tmp_path, top=None)
    assert only.digest == only.base_digest == inputs(tmp_path).base_digest


@pytest.mark.parametrize("top", [{**TOP, "files": [{"images": "tiny/driver.py", "to": "/etc/driver.py"}]},
                                 {**TOP, "files": []}, {**TOP, "needs": []}, {**TOP, "needs": ["/usr"]},
                                 {**TOP, "folder": "opt"}, {**TOP, "packages": ["x"]}])
def test_a_top_that_is_none_is_refused(tmp_path: Path, top: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"recipe\.yaml: top"):
        inputs(tmp_path, top=top)


def test_a_kept_base_is_found_by_what_it_was_made_from(tmp_path: Path) -> None:
    made = layer(tmp_path, b"base")
    record = LayerRecord(recipe="a" * 64, suite="bookworm", layer=made.sha256, size=made.size, packages={"x": "1"})
    kept = keep_base(tmp_path, "tiny", "amd64", record, made)
    assert (kept.path.read_bytes(), kept.sha256, made.path.exists()) == (b"base", made.sha256, False)
    assert cached_base(tmp_path, "tiny", "amd64", "a" * 64) == (record, kept)
    for other in (("tiny", "arm64", "a"), ("other", "amd64", "a"), ("tiny", "amd64", "b")):
        assert cached_base(tmp_path, *other[:2], other[2] * 64) is None
    kept.path.write_bytes(b"bas")
    assert cached_base(tmp_path, "tiny", "amd64", "a" * 64) is None


def test_one_base_of_an_image_is_kept(tmp_path: Path) -> None:
    for digit in "ab":
        made = layer(tmp_path, digit.encode())
        keep_base(tmp_path, "tiny", "amd64", LayerRecord(recipe=digit * 64, suite="bookworm", layer=made.sha256, size=1,
                                                         packages={}), made)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"tiny-amd64-base-{'b' * 64}.json", f"tiny-amd64-base-{'b' * 64}.tar"]


def test_an_archive_lists_its_layers_from_the_bottom(tmp_path: Path) -> None:
    layers = []
    for name in ("base", "top"):
        (tmp_path / name).mkdir()
        layers.append(layer(tmp_path / name, name.encode()))
    out = io.BytesIO()
    config = ImageConfig(architecture="amd64", env=(), user="1:1", workdir="/", labels=())
    identity = write_archive(out, layers, config, "sandbox-runner/tiny:1")
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        blobs = {member.name: (tar.extractfile(member) or io.BytesIO()).read() for member in tar.getmembers()}
    told = json.loads(blobs[f"blobs/sha256/{identity.id.removeprefix('sha256:')}"])
    assert told["rootfs"]["diff_ids"] == [f"sha256:{each.sha256}" for each in layers]
    assert len(told["history"]) == 2
    assert json.loads(blobs["manifest.json"])[0]["Layers"] == [f"blobs/sha256/{each.sha256}" for each in layers]
    assert [blobs[f"blobs/sha256/{each.sha256}"] for each in layers] == [b"base", b"top"]
