"""Images on a real engine: the same ID from two builds, found by digest or recipe, never pulled."""

from __future__ import annotations

import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from cli import runner
from tiny_images import TinyImages, tiny_images

from runner.controller.images import build_images, verify_images
from runner.errors import ImageUnavailable, SetupError
from runner.images.build import Built, build, obtain
from runner.images.inputs import Inputs, load_inputs
from runner.images.lock import ImagesLock, read_lock, write_lock
from runner.images.naming import IMAGE_LABEL, RECIPE_LABEL, host_platform
from runner.resources import data_dir
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.images import find_image, local_image
from runner.sandbox.backends.docker.imagestore import EngineImages
from runner.sandbox.image import ImagePin

pytestmark = pytest.mark.engine

TINY_RECIPE = """
{name: tiny, suite: bookworm, variant: extract, packages: [base-files], env: {}, user: '10001:10001', workdir: /,
 labels: {only: TOKEN}}
"""


@pytest.fixture(scope="module")
def api() -> Iterator[docker.APIClient]:
    with closing(connect()) as client:
        yield client


@pytest.fixture
def tiny(api: docker.APIClient, tmp_path: Path) -> Iterator[TinyImages]:
    with tiny_images(api, tmp_path) as images:
        yield images


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    """The steward's inputs, read once: both builds get the same."""
    return load_inputs(data_dir("images"), "steward")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def built(inputs: Inputs, cache: Path) -> Built:
    return obtain(inputs, cache, use_cache=False)


def test_two_builds_give_the_same_image(inputs: Inputs, built: Built, tmp_path: Path) -> None:
    again = build(inputs, tmp_path)
    assert again.record == built.record
    assert again.archive.read_bytes() == built.archive.read_bytes()


def test_a_second_engine_gets_the_archive_of_the_first(inputs: Inputs, built: Built, cache: Path) -> None:
    again = obtain(inputs, cache)
    assert (again.from_cache, again.record, again.archive) == (True, built.record, built.archive)


def test_the_engine_makes_the_image_that_was_foretold(api: docker.APIClient, built: Built) -> None:
    # The image stays: it is the one that every replay uses.
    with built.archive.open("rb") as archive:
        loaded = EngineImages(api).load(archive, built.record)
    labels = dict(loaded.labels)
    assert loaded.id in (built.record.id, built.record.manifest)
    assert labels["io.sandbox-runner.init"] == built.record.programs["init"]
    assert labels[RECIPE_LABEL] == built.record.recipe
    assert (loaded.platform, loaded.volumes, loaded.env) == (built.platform, (), ("PATH=/usr/bin:/bin",))


def test_a_build_leaves_nothing_but_its_archive(built: Built, cache: Path) -> None:
    assert sorted(path.suffix for path in cache.iterdir()) == [".json", ".tar"]


def test_a_pin_follows_the_id_when_its_tag_moves(api: docker.APIClient, tiny: TinyImages) -> None:
    tag = tiny.tag()
    first = tiny.make(tag)
    second = tiny.make(tag)
    assert find_image(api, tag).id in (second.id, second.manifest)
    found = find_image(api, ImagePin(first.id, name=tag, manifest=first.manifest))
    assert found.id in (first.id, first.manifest)


def test_a_missing_image_is_refused_with_what_would_help(tiny: TinyImages, tmp_path: Path) -> None:
    tag = tiny.tag()
    with closing(connect()) as api, pytest.raises(ImageUnavailable, match="nothing is pulled") as caught:
        find_image(api, tag)
    assert caught.value.hint.startswith(f"docker pull {tag}")
    assert caught.value.exit_code == 2


def test_a_missing_pin_is_not_met_by_another_image_of_its_name(api: docker.APIClient, tiny: TinyImages) -> None:
    tag = tiny.tag()
    here = tiny.make(tag)
    never_loaded = tiny.archive(tag)
    with pytest.raises(ImageUnavailable, match="not on this engine; what has its name is") as caught:
        find_image(api, ImagePin(never_loaded.id, name=tag))
    assert here.id in caught.value.message or here.manifest in caught.value.message
    assert f"--docker-image {tag}" in caught.value.hint


def test_another_platform_is_refused_before_anything_is_created(api: docker.APIClient, tiny: TinyImages) -> None:
    other = tiny.make(tiny.tag(), architecture="s390x")
    with pytest.raises(ImageUnavailable, match="is for linux/s390x, the engine runs linux/"):
        find_image(api, ImagePin(other.id, manifest=other.manifest))


def test_a_damaged_archive_is_refused(api: docker.APIClient, tiny: TinyImages, tmp_path: Path) -> None:
    record = tiny.archive(tiny.tag())
    archive = tmp_path / "image.tar"
    archive.write_bytes(archive.read_bytes().replace(b"file\0", b"fil2\0"))
    with archive.open("rb") as data, pytest.raises(SetupError):
        EngineImages(api).load(data, record)


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    """An images folder with one recipe of its own."""
    root = tmp_path / "images"
    (root / "tiny").mkdir(parents=True)
    (root / "tiny" / "recipe.yaml").write_text(TINY_RECIPE.replace("TOKEN", secrets.token_hex(8)))
    return root


def labels_of(recipes: Path) -> dict[str, str]:
    return {IMAGE_LABEL: "tiny", RECIPE_LABEL: load_inputs(recipes, "tiny").digest}


def test_our_image_is_found_by_its_recipe(api: docker.APIClient, tiny: TinyImages, recipes: Path) -> None:
    with pytest.raises(ImageUnavailable) as caught:
        local_image(api, "tiny", recipes)
    assert caught.value.hint == "runner images build tiny"
    made = tiny.make(tiny.tag(), **labels_of(recipes))
    assert local_image(api, "tiny", recipes).id in (made.id, made.manifest)


def test_of_two_builds_only_the_locked_one_is_used(api: docker.APIClient, tiny: TinyImages, recipes: Path) -> None:
    first, second = (tiny.make(tiny.tag(), **labels_of(recipes)) for _ in range(2))
    with pytest.raises(ImageUnavailable, match="several builds"):
        local_image(api, "tiny", recipes)
    write_lock(recipes, ImagesLock().with_record("tiny", host_platform(), second))
    assert local_image(api, "tiny", recipes).id in (second.id, second.manifest)
    assert first.id != second.id


def test_an_image_derived_from_ours_is_not_taken_for_it(
        api: docker.APIClient, tiny: TinyImages, recipes: Path) -> None:
    made = tiny.make(tiny.tag(), **labels_of(recipes))
    container = api.create_container(made.id, ["/file"])["Id"]
    try:
        derived = api.commit(container, repository=tiny.tag().partition(":")[0])["Id"]
    finally:
        api.remove_container(container)
    try:
        assert local_image(api, "tiny", recipes).id in (made.id, made.manifest)
    finally:
        EngineImages(api).remove(derived)


def test_verify_rebuilds_and_says_what_moved_on(
        api: docker.APIClient, recipes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    [report] = build_images([], use_cache=True, lock_it=True, say=print, root=recipes)
    try:
        record = read_lock(recipes).record("tiny", report.platform)
        assert record is not None
        assert (record.id, report.lock) == (report.id, "not in images.lock")
        old = record.model_copy(update={"id": "sha256:" + "0" * 64, "packages": {**record.packages, "libc6": "1.0"}})
        write_lock(recipes, ImagesLock().with_record("tiny", report.platform, old))
        [check] = verify_images(["tiny"], say=print, root=recipes)
    finally:
        EngineImages(api).remove(report.id)
    assert (check.id, check.engine, check.lock, check.same) == (report.id, "same", "different", False)
    assert check.changes == (f"libc6 1.0 → {record.packages['libc6']}",)


def test_list_shows_every_image_as_json_and_as_text(tmp_path: Path) -> None:
    states = {image["name"]: image["state"] for image in runner("images", "list", "--json", cwd=tmp_path)
              .json["images"]}
    assert set(states) >= {"command", "steward"}
    shown = runner("images", "list", cwd=tmp_path)
    assert shown.code == 0
    assert all(any(line.split()[:2] == [name, state] for line in shown.out.splitlines())
               for name, state in states.items())


@pytest.mark.parametrize("action", ["build", "verify"])
def test_an_unknown_image_is_a_usage_error(action: str, tmp_path: Path) -> None:
    answer = runner("images", action, "nope", "--json", cwd=tmp_path)
    assert (answer.code, answer.json["code"]) == (2, "usage")


def test_without_an_engine_nothing_is_built(tmp_path: Path) -> None:
    nowhere = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    answer = runner("images", "build", cwd=tmp_path, env=nowhere)
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1


def test_an_interrupted_build_leaves_no_files(tmp_path: Path) -> None:
    scratch, cache = tmp_path / "tmp", tmp_path / "cache"
    scratch.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-m", "runner", "images", "build", "steward", "--no-cache"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=data_dir("images").parent,
        env={**os.environ, "TMPDIR": str(scratch), "XDG_CACHE_HOME": str(cache)})
    await_chroot(scratch)
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == 130
    assert list(scratch.rglob("*")) == []
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def await_chroot(scratch: Path) -> None:
    """Return once mmdebstrap has made its root below ``scratch``."""
    end = time.monotonic() + 60
    while not any(scratch.glob("*/*/mmdebstrap.*")):
        assert time.monotonic() < end, "the build never started"
        select.select([], [], [], 0.01)
