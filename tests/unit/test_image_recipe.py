"""Recipes: what is refused, and that every input is in the digest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from runner.errors import InputError, UsageError
from runner.images.inputs import gather, load_inputs
from runner.images.recipe import load_recipe, parse_recipe, recipe_names
from runner.resources import data_dir

MINIMAL = {
    "name": "tiny", "suite": "bookworm", "variant": "extract", "packages": ["base-files"],
    "env": {"PATH": "/usr/bin"}, "user": "10001:10001", "workdir": "/workspace",
}


def as_yaml(**changes: object) -> bytes:
    return yaml.safe_dump({**MINIMAL, **changes}).encode()


@pytest.mark.parametrize(("changes", "field"), [
    ({"packages": []}, "packages"),
    ({"packages": ["--option=x"]}, "packages"),
    ({"packages": ["a b"]}, "packages"),
    ({"suite": "-o"}, "suite"),
    ({"suite": "../etc"}, "suite"),
    ({"variant": "custom"}, "variant"),
    ({"user": "0:0"}, "user"),
    ({"user": "root"}, "user"),
    ({"workdir": "workspace"}, "workdir"),
    ({"workdir": "/a/../b"}, "workdir"),
    ({"volumes": ["/x"]}, "volumes"),
    ({"entrypoint": ["/bin/sh"]}, "entrypoint"),
    ({"labels": {"io.sandbox-runner.init": "forged"}}, "labels"),
    ({"finish": ["../../bin/evil.sh"]}, "finish"),
    ({"finish": ["/bin/sh"]}, "finish"),
    ({"files": [{"images": "../secret", "to": "/x"}]}, "files"),
    ({"files": [{"images": "a", "runner": "b", "to": "/x"}]}, "files"),
    ({"files": [{"to": "/x"}]}, "files"),
    ({"files": [{"images": "a", "to": "/x", "mode": "4755"}]}, "files"),
    ({"files": [{"images": "a", "to": "/../x"}]}, "files"),
    ({"directories": [{"path": "/x", "owner": -1}]}, "directories"),
    ({"links": {"relative": "x"}}, "links"),
    ({"name": "Tiny!"}, "name"),
])
def test_a_bad_field_is_refused_by_name(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InputError, match=rf"recipe\.yaml: {field}") as caught:
        parse_recipe(as_yaml(**changes), "images/tiny/recipe.yaml")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("raw", [
    b"", b"[]", b"\xff\xfe", b"a: [", b"!!python/object/apply:os.system [id]", b"[" * 5000,
    b"a: &a [x]\nb: &b [*a,*a]\n", b"x" * 70_000, b"\x00",
], ids=["empty", "list", "not utf-8", "unclosed", "python object", "deep", "aliases", "huge", "nul"])
def test_what_is_no_recipe_ends_in_one_line(raw: bytes) -> None:
    with pytest.raises(InputError) as caught:
        parse_recipe(raw, "images/tiny/recipe.yaml")
    assert "\n" not in caught.value.message


def write_image(root: Path) -> tuple[Path, Path]:
    """An image folder and a package folder with one input of every kind."""
    images, package = root / "images", root / "runner"
    (images / "tiny").mkdir(parents=True)
    (images / "shared").mkdir()
    package.mkdir()
    (images / "tiny" / "recipe.yaml").write_bytes(as_yaml(
        finish=["shared/finish.sh"],
        files=[{"images": "tiny/*.conf", "to": "/etc/"}, {"runner": "errors.py", "to": "/opt/errors.py"}],
        program={"packages": ["gcc"], "sources": ["tiny/*.c"], "script": "shared/compile.sh", "to": "/opt/init",
                 "label": "init"}))
    for path in ("tiny/a.conf", "tiny/init.c", "shared/finish.sh", "shared/compile.sh"):
        (images / path).write_text(path)
    (package / "errors.py").write_text("errors")
    return images, package


def digest(images: Path, package: Path) -> str:
    return gather(load_recipe(images, "tiny"), images, package).digest


def test_the_digest_is_stable(tmp_path: Path) -> None:
    images, package = write_image(tmp_path)
    assert digest(images, package) == digest(images, package)


@pytest.mark.parametrize("change", [
    lambda images, package: (images / "tiny/a.conf").write_text("changed"),
    lambda images, package: (images / "tiny/b.conf").write_text("new"),
    lambda images, package: (images / "tiny/a.conf").rename(images / "tiny/c.conf"),
    lambda images, package: (images / "tiny/init.c").write_text("changed"),
    lambda images, package: (images / "tiny/other.c").write_text("new"),
    lambda images, package: (images / "shared/finish.sh").write_text("changed"),
    lambda images, package: (images / "shared/compile.sh").write_text("changed"),
    lambda images, package: (package / "errors.py").write_text("changed"),
    lambda images, package: (images / "tiny/recipe.yaml").write_bytes(
        (images / "tiny/recipe.yaml").read_bytes().replace(b"base-files", b"base-passwd")),
], ids=["file", "new file", "renamed file", "source", "new source", "script", "compile script", "package", "recipe"])
def test_every_input_is_in_the_digest(tmp_path: Path, change: Callable[[Path, Path], object]) -> None:
    images, package = write_image(tmp_path)
    before = digest(images, package)
    change(images, package)
    assert digest(images, package) != before


def test_a_comment_in_the_recipe_does_not_change_the_image(tmp_path: Path) -> None:
    images, package = write_image(tmp_path)
    before = digest(images, package)
    recipe = images / "tiny/recipe.yaml"
    recipe.write_bytes(b"# a comment\n" + recipe.read_bytes())
    assert digest(images, package) == before


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    images, package = write_image(tmp_path)
    (images / "tiny/init.c").unlink()
    with pytest.raises(InputError, match=r"tiny/\*\.c"):
        digest(images, package)


def test_a_symbolic_link_is_no_input(tmp_path: Path) -> None:
    images, package = write_image(tmp_path)
    (images / "tiny/b.conf").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="symbolic link"):
        digest(images, package)


def test_two_files_for_one_place_are_refused(tmp_path: Path) -> None:
    images, package = write_image(tmp_path)
    recipe = images / "tiny/recipe.yaml"
    recipe.write_bytes(as_yaml(files=[{"images": "tiny/a.conf", "to": "/x"}, {"images": "tiny/init.c", "to": "/x"}]))
    with pytest.raises(InputError, match="two files go to /x"):
        digest(images, package)


@pytest.mark.parametrize("name", ["nope", "..", "tiny/../tiny", "", "\x1b[31m"])
def test_an_unknown_name_is_a_usage_error_that_lists_the_known(tmp_path: Path, name: str) -> None:
    images, _ = write_image(tmp_path)
    with pytest.raises(UsageError) as caught:
        load_recipe(images, name)
    assert caught.value.hint == "there are: tiny"
    assert "\x1b" not in caught.value.message


def test_a_recipe_must_carry_its_folders_name(tmp_path: Path) -> None:
    images, _ = write_image(tmp_path)
    (images / "tiny").rename(images / "other")
    with pytest.raises(InputError, match="the folder is other"):
        load_recipe(images, "other")


def test_our_own_recipes_are_sound() -> None:
    root = data_dir("images")
    assert set(recipe_names(root)) >= {"command", "steward"}
    for name in ("command", "steward"):
        recipe = load_recipe(root, name)
        assert (recipe.user, recipe.suite) == ("10001:10001", "bookworm")


def test_the_stewards_digest_covers_its_whole_trust_path() -> None:
    inputs = load_inputs(data_dir("images"), "steward")
    paths = {file.path for file in inputs.files}
    assert paths >= {"/opt/runner/steward.py", "/opt/runner/runner/__init__.py", "/opt/runner/runner/errors.py",
                     "/opt/runner/runner/payload/__init__.py", "/opt/runner/runner/payload/tree.py"}
    assert "init.c" in inputs.sources
    assert "steward/compile.sh" in inputs.scripts
