"""Python packages of an image: pinned by digest, fetched once, unpacked as data, and nothing out of place."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.errors import InputError, SetupError
from runner.images import wheels as module
from runner.images.recipe import Wheels, parse_recipe
from runner.images.wheels import fetch_wheels, unpack_wheels

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a wheel with these files; ``executable`` ones can be executed."""
    def made(name: str, files: dict[str, str], executable: tuple[str, ...] = ()) -> Path:
        path = tmp_path / f"{name}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for place, text in files.items():
                entry = zipfile.ZipInfo(place)
                entry.external_attr = (0o755 if place in executable else 0o600) << 16
                wheel.writestr(entry, text)
        return path
    return made


def wanted(**digests: str) -> Wheels:
    return Wheels.model_validate({"python": "3.11", "to": "/opt/lib", "packages": [
        {"name": "tiny", "version": "1.0", "sha256": digests}]})


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpacked(tmp_path: Path, *files: Path) -> dict[str, tarfile.TarInfo]:
    target = tmp_path / "tree.tar"
    unpack_wheels(wanted(any="0" * 64), files, target)
    with tarfile.open(target) as tar:
        return {member.name: member for member in tar.getmembers()}


def never(*_: object, **__: object) -> None:
    raise AssertionError("pip was asked")


def test_files_go_below_the_folder_whatever_their_times_and_modes(tmp_path: Path, make: Make) -> None:
    wheel = make("tiny", {"tiny/node": "x", "tiny/__init__.py": "yz", "tiny-1.0.dist-info/METADATA": ""},
                 ("tiny/node",))
    members = unpacked(tmp_path, wheel)
    assert [(name, entry.mode, entry.size, entry.mtime, entry.uid) for name, entry in members.items()] == [
        ("opt/lib/tiny-1.0.dist-info/METADATA", 0o644, 0, 1_700_000_000, 0),
        ("opt/lib/tiny/__init__.py", 0o644, 2, 1_700_000_000, 0),
        ("opt/lib/tiny/node", 0o755, 1, 1_700_000_000, 0)]


def test_the_order_inside_a_wheel_does_not_matter(tmp_path: Path, make: Make) -> None:
    first = make("one", {"a.py": "a", "b.py": "b"})
    unpacked(tmp_path, first)
    tree = (tmp_path / "tree.tar").read_bytes()
    unpacked(tmp_path, make("two", {"b.py": "b", "a.py": "a"}))
    assert (tmp_path / "tree.tar").read_bytes() == tree


def test_headers_are_left_out(tmp_path: Path, make: Make) -> None:
    wheel = make("tiny", {"tiny.py": "", "tiny-1.0.data/headers/tiny.h": ""})
    assert list(unpacked(tmp_path, wheel)) == ["opt/lib/tiny.py"]


def test_a_program_goes_into_bin_and_can_be_run(tmp_path: Path, make: Make) -> None:
    wheel = make("tiny", {"tiny-1.0.data/scripts/tiny": "\x7fELF", "tiny.py": ""})
    assert {name: entry.mode for name, entry in unpacked(tmp_path, wheel).items()} == {
        "opt/lib/bin/tiny": 0o755, "opt/lib/tiny.py": 0o644}


def test_a_script_that_an_installer_must_finish_is_refused(tmp_path: Path, make: Make) -> None:
    with pytest.raises(SetupError, match="does not go beside the others"):
        unpacked(tmp_path, make("tiny", {"tiny-1.0.data/scripts/tiny": "#!python\n"}))


@pytest.mark.parametrize("place", ["../outside", "/etc/passwd", "tiny/../../x", "tiny-1.0.data/scripts/more/tiny",
                                   "tiny-1.0.data/scripts/..", "tiny-1.0.data/data/etc/x"])
def test_a_file_out_of_place_is_refused(tmp_path: Path, make: Make, place: str) -> None:
    with pytest.raises(SetupError, match="does not go beside the others"):
        unpacked(tmp_path, make("tiny", {place: ""}))


def test_two_wheels_with_one_file_are_refused(tmp_path: Path, make: Make) -> None:
    with pytest.raises(SetupError, match=r"two wheels have the file tiny\.py"):
        unpacked(tmp_path, make("one", {"tiny.py": ""}), make("two", {"tiny.py": ""}))


def test_a_wheel_that_is_there_is_not_fetched(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", never)
    wheel = make("tiny", {"tiny.py": ""})
    store, digest = tmp_path / "store", digest_of(wheel)
    store.mkdir()
    kept = wheel.rename(store / f"{digest}.whl")
    assert fetch_wheels(wanted(any=digest), "amd64", store) == (kept,)
    assert fetch_wheels(wanted(amd64=digest, arm64="0" * 64), "amd64", store) == (kept,)


def test_pip_fetches_by_version_and_digest_and_names_no_place(
        tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make("tiny", {"tiny.py": ""})
    digest = digest_of(wheel)
    seen: list[str] = []

    def pip(argv: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        options = dict(word.partition("=")[::2] for word in argv if word.startswith("--"))
        seen.extend([*argv, Path(options["--requirement"]).read_text(encoding="ascii")])
        wheel.rename(Path(options["--dest"]) / "tiny-1.0-py3-none-any.whl")
        return subprocess.CompletedProcess(argv, 0, b"", b"")

    monkeypatch.setattr(module.subprocess, "run", pip)
    path, = fetch_wheels(wanted(amd64=digest), "amd64", tmp_path / "store")
    assert (path.name, digest_of(path)) == (f"{digest}.whl", digest)
    assert seen[-1] == f"tiny==1.0 --hash=sha256:{digest}\n"
    assert {"--require-hashes", "--no-deps", "--only-binary=:all:", "--python-version=3.11",
            "--platform=manylinux_2_36_x86_64"} <= set(seen)
    assert not [word for word in seen if "://" in word or "index" in word]
    assert [path.name for path in (tmp_path / "store").iterdir()] == [f"{digest}.whl"]


@pytest.mark.parametrize(("code", "complaint", "message"), [
    (1, b"WARNING: x\nERROR: No matching distribution found\n", "cannot fetch tiny 1.0: ERROR: No matching"),
    (1, b"", "it said nothing"),
    (0, b"", "another wheel of tiny 1.0 than the recipe names")])
def test_what_cannot_be_had_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int,
                                                complaint: bytes, message: str) -> None:
    def pip(argv: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        folder = next(word.partition("=")[2] for word in argv if word.startswith("--dest="))
        (Path(folder) / "tiny.whl").write_bytes(b"something else")
        return subprocess.CompletedProcess(argv, code, b"", complaint)

    monkeypatch.setattr(module.subprocess, "run", pip)
    with pytest.raises(SetupError, match=message) as caught:
        fetch_wheels(wanted(any="0" * 64), "amd64", tmp_path / "store")
    assert "\n" not in caught.value.message
    assert list((tmp_path / "store").iterdir()) == []


def test_a_python_without_pip_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match="has no pip") as caught:
        fetch_wheels(wanted(any="0" * 64), "amd64", tmp_path / "store")
    assert "ensurepip" in caught.value.hint


def test_another_architecture_has_no_wheel(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no wheel of tiny 1\.0 for riscv64"):
        fetch_wheels(wanted(amd64="0" * 64), "riscv64", tmp_path / "store")


@pytest.mark.parametrize(("field", "value"), [
    ("python", "3"), ("to", "lib"), ("packages", []), ("name", "-r x"), ("version", "1 --pre"), ("sha256", {}),
    ("sha256", {"any": "xyz"}), ("sha256", {"sparc": "0" * 64})])
def test_a_recipe_says_exactly_which_wheels(field: str, value: object) -> None:
    package = {"name": "tiny", "version": "1.0", "sha256": {"any": "0" * 64}}
    fields = {"python": "3.11", "to": "/opt/lib", "packages": [package]}
    (package if field in package else fields)[field] = value
    recipe = {"name": "tiny", "suite": "bookworm", "variant": "extract", "packages": ["base-files"], "env": {},
              "user": "1:1", "workdir": "/", "wheels": fields}
    with pytest.raises(InputError, match=r"recipe\.yaml: wheels"):
        parse_recipe(json.dumps(recipe).encode(), "images/tiny/recipe.yaml")
