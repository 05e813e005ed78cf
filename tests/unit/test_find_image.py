"""Which image is used, against an engine that answers from a table and has no way to pull."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import docker
import pytest
from docker.errors import ImageNotFound

from runner.errors import ImageUnavailable, UsageError
from runner.images.lock import ImageRecord, ImagesLock, write_lock
from runner.images.naming import IMAGE_LABEL, LAYERS_LABEL, RECIPE_LABEL
from runner.sandbox.backends.docker import images as images_module
from runner.sandbox.backends.docker.images import find_image, local_image
from runner.sandbox.backends.docker.imagestore import EngineImages
from runner.sandbox.image import ImagePin

CONFIG, MANIFEST, OTHER = ("sha256:" + digit * 64 for digit in "123")


class Table:
    """The four read-only calls that finding an image may make."""

    def __init__(self, *rows: dict[str, Any], platform: str = "linux/amd64") -> None:
        self.rows = rows
        self.platform = platform

    def version(self) -> dict[str, str]:
        system, _, architecture = self.platform.partition("/")
        return {"Os": system, "Arch": architecture}

    def inspect_image(self, reference: str) -> dict[str, Any]:
        for row in self.rows:
            if reference == row["Id"] or reference in row["RepoTags"]:
                return row
        raise ImageNotFound("no such image")

    def images(self, filters: dict[str, list[str]] | None = None) -> list[dict[str, Any]]:
        wanted = set((filters or {}).get("label", ()))
        return [row for row in self.rows
                if wanted <= {f"{key}={value}" for key, value in row["Config"]["Labels"].items()}]

    @property
    def api(self) -> docker.APIClient:
        return cast("docker.APIClient", self)


def row(identity: str = CONFIG, *, tags: tuple[str, ...] = (), digests: tuple[str, ...] = (),
        architecture: str = "amd64", layers: int = 1, created: str = "2023-11-14T22:13:20Z",
        **config: Any) -> dict[str, Any]:
    return {"Id": identity, "RepoTags": list(tags), "RepoDigests": list(digests), "Os": "linux",
            "Architecture": architecture, "Size": 7, "Created": created,
            "RootFS": {"Layers": ["sha256:x"] * layers}, "Config": {"Labels": {}, **config}}


@pytest.fixture(autouse=True)
def lock_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An images folder of our own, so that the project's lock has no say here."""
    monkeypatch.setattr(images_module, "data_dir", lambda _: tmp_path)
    return tmp_path


def test_a_pin_is_found_by_its_config_digest() -> None:
    found = find_image(Table(row()).api, ImagePin(CONFIG))
    assert (found.id, found.matched) == (CONFIG, "id")


def test_a_pin_is_found_by_its_manifest_on_a_containerd_store() -> None:
    found = find_image(Table(row(MANIFEST)).api, ImagePin(CONFIG, manifest=MANIFEST))
    assert (found.id, found.matched) == (MANIFEST, "manifest")


def test_a_pin_recorded_on_a_containerd_store_is_found_by_repo_digest() -> None:
    found = find_image(Table(row(OTHER), row(CONFIG, digests=(f"python@{MANIFEST}",))).api, ImagePin(MANIFEST))
    assert (found.id, found.matched, found.digests) == (CONFIG, "id", (MANIFEST,))


@pytest.mark.parametrize(("pinned", "present"), [(CONFIG, MANIFEST), (MANIFEST, CONFIG)])
def test_our_lock_knows_both_digests_of_our_images(lock_root: Path, pinned: str, present: str) -> None:
    record = ImageRecord(recipe="a" * 64, suite="bookworm", id=CONFIG, manifest=MANIFEST, layer="b" * 64, size=1,
                         packages={})
    write_lock(lock_root, ImagesLock().with_record("command", "linux/amd64", record))
    assert find_image(Table(row(present)).api, ImagePin(pinned)).id == present


def test_a_tag_that_moved_does_not_matter_to_a_pin() -> None:
    table = Table(row(OTHER, tags=("python:3.12",)), row(CONFIG))
    assert find_image(table.api, ImagePin(CONFIG, name="python:3.12")).id == CONFIG


def test_a_pin_is_never_met_by_name() -> None:
    table = Table(row(OTHER, tags=("python:3.12",)))
    with pytest.raises(ImageUnavailable, match=f"what has its name is {OTHER}") as caught:
        find_image(table.api, ImagePin(CONFIG, name="python:3.12"))
    assert caught.value.hint == "to replay on that one instead: --docker-image python:3.12"


@pytest.mark.parametrize(("pin", "hint"), [
    (ImagePin(CONFIG, name="python:3.12"), "docker pull python:3.12, or choose another with --docker-image"),
    (ImagePin(CONFIG, name="python", manifest=MANIFEST),
     f"docker pull python@{MANIFEST}, or choose another with --docker-image"),
    (ImagePin(CONFIG, name="sandbox-runner/command:abc"), "runner images build command"),
    (ImagePin(CONFIG), "choose another with --docker-image"),
    (ImagePin(CONFIG, name="x; rm -rf /\x1b[2J"), "choose another with --docker-image"),
    (ImagePin(CONFIG, name="--privileged"), "choose another with --docker-image"),
])
def test_a_missing_pin_says_what_would_help(pin: ImagePin, hint: str) -> None:
    with pytest.raises(ImageUnavailable, match="is not on this engine") as caught:
        find_image(Table().api, pin)
    assert caught.value.hint == hint
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("identity", ["", "latest", "sha256:12", CONFIG.upper(), CONFIG + "\n"])
def test_a_pin_without_a_full_id_is_no_pin(identity: str) -> None:
    with pytest.raises(ImageUnavailable, match="no usable ID"):
        find_image(Table(row()).api, ImagePin(identity))


def test_a_persons_name_and_id_are_taken() -> None:
    table = Table(row(tags=("python:3.12",)))
    assert find_image(table.api, "python:3.12").matched == "name"
    assert find_image(table.api, CONFIG).matched == "id"


def test_a_missing_name_says_how_to_get_it() -> None:
    with pytest.raises(ImageUnavailable, match="nothing is pulled for you") as caught:
        find_image(Table().api, "python:3.12")
    assert caught.value.hint.startswith("docker pull python:3.12")


@pytest.mark.parametrize("name", [
    "", "../containers/x", "a/../b", "a//b", "-x", "a b", "a\nb", "a?x=1", "a#b", "a%2e%2e", "é", "x" * 500, "a:b:c:d",
])
def test_what_is_no_image_name_never_reaches_the_engine(name: str) -> None:
    class Silent(Table):
        def inspect_image(self, reference: str) -> dict[str, Any]:
            raise AssertionError(reference)

    with pytest.raises(UsageError, match="not an image name"):
        find_image(Silent().api, name)


@pytest.mark.parametrize("name", ["python", "python:3.12-slim", "host.example:5000/team/app:1", f"python@{CONFIG}"])
def test_ordinary_names_are_names(name: str) -> None:
    assert find_image(Table(row(tags=(name,))).api, name).name == name


@pytest.mark.parametrize("wanted", [ImagePin(CONFIG), CONFIG, "python:3.12"])
def test_another_platform_is_refused(wanted: ImagePin | str) -> None:
    table = Table(row(tags=("python:3.12",), architecture="arm64"))
    with pytest.raises(ImageUnavailable, match="is for linux/arm64, the engine runs linux/amd64"):
        find_image(table.api, wanted)


def test_what_the_image_brings_is_told() -> None:
    table = Table(row(Env=["PATH=/bin"], Volumes={"/data": {}, "/cache": {}}, Labels={"a": "b"}))
    found = find_image(table.api, CONFIG)
    assert (found.env, found.volumes, found.labels, found.size) == (
        ("PATH=/bin",), ("/cache", "/data"), (("a", "b"),), 7)


def test_an_image_without_any_configuration_is_read() -> None:
    bare = {"Id": CONFIG, "RepoTags": [], "Os": "linux", "Architecture": "amd64", "Config": None}
    assert find_image(Table(bare).api, CONFIG).env == ()


def own(root: Path, identity: str, **more: Any) -> dict[str, Any]:
    """An engine's row for a build of the recipe below ``root``."""
    return row(identity, Labels={IMAGE_LABEL: "tiny", RECIPE_LABEL: recipe_digest(root)}, **more)


def recipe_digest(root: Path) -> str:
    folder = root / "tiny"
    folder.mkdir(exist_ok=True)
    (folder / "recipe.yaml").write_text(
        "{name: tiny, suite: bookworm, variant: extract, packages: [base-files], env: {}, user: '1:1', workdir: /}")
    return images_module.load_inputs(root, "tiny").digest


def test_our_image_is_found_by_its_recipe_not_by_its_tag(tmp_path: Path) -> None:
    table = Table(row(OTHER, tags=(f"sandbox-runner/tiny:{recipe_digest(tmp_path)[:12]}",)), own(tmp_path, CONFIG))
    assert local_image(table.api, "tiny").id == CONFIG


@pytest.mark.parametrize(("told", "layers", "ours"), [
    (None, 1, True), ("2", 2, True), ("2", 1, False), ("2", 3, False), ("x", 1, False), ("", 0, False)])
def test_our_own_say_how_many_layers_they_have(told: str | None, layers: int, ours: bool) -> None:
    labels = {IMAGE_LABEL: "tiny", **({LAYERS_LABEL: told} if told is not None else {})}
    found = EngineImages(Table(row(CONFIG, layers=layers, Labels=labels)).api).built("tiny")
    assert [build.id for build in found] == ([CONFIG] if ours else [])


@pytest.mark.parametrize("derived", [{"layers": 2}, {"created": "2026-01-01T00:00:00Z"}])
def test_an_image_made_from_ours_is_not_ours(tmp_path: Path, derived: dict[str, Any]) -> None:
    table = Table(own(tmp_path, CONFIG, **derived))
    with pytest.raises(ImageUnavailable, match="not on this engine") as caught:
        local_image(table.api, "tiny")
    assert caught.value.hint == "runner images build tiny"


def test_of_several_builds_the_locked_one_is_used_and_without_one_none(tmp_path: Path) -> None:
    table = Table(own(tmp_path, OTHER), own(tmp_path, CONFIG))
    with pytest.raises(ImageUnavailable, match="several builds"):
        local_image(table.api, "tiny")
    record = ImageRecord(recipe=recipe_digest(tmp_path), suite="bookworm", id=CONFIG, manifest=MANIFEST,
                         layer="b" * 64, size=1, packages={})
    write_lock(tmp_path, ImagesLock().with_record("tiny", "linux/amd64", record))
    assert local_image(table.api, "tiny").id == CONFIG
