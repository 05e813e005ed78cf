"""Cached archives: found again by recipe, never half, and not without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.errors import SetupError
from runner.images.build import obtain
from runner.images.cache import cache_dir, cached, keep
from runner.images.inputs import load_inputs
from runner.images.lock import ImageRecord
from runner.resources import data_dir


def record(digit: str) -> ImageRecord:
    return ImageRecord(recipe=digit * 64, suite="bookworm", id="sha256:" + digit * 64,
                       manifest="sha256:" + digit * 64, layer=digit * 64, size=1, packages={})


def store(folder: Path, digit: str, age: int = 0) -> Path:
    built = folder / "built.tar"
    built.write_bytes(digit.encode())
    os.utime(built, (1_000_000 - age, 1_000_000 - age))
    return keep(folder, "tiny", "amd64", record(digit), built)


def test_a_kept_archive_is_found_by_its_recipe(tmp_path: Path) -> None:
    archive = store(tmp_path, "1")
    assert cached(tmp_path, "tiny", "amd64", "1" * 64) == (record("1"), archive)
    assert archive.read_bytes() == b"1"


@pytest.mark.parametrize(("name", "architecture", "digit"),
                         [("other", "amd64", "1"), ("tiny", "arm64", "1"), ("tiny", "amd64", "2")])
def test_another_image_is_not_found(tmp_path: Path, name: str, architecture: str, digit: str) -> None:
    store(tmp_path, "1")
    assert cached(tmp_path, name, architecture, digit * 64) is None


def test_a_damaged_or_half_entry_is_no_entry(tmp_path: Path) -> None:
    archive = store(tmp_path, "1")
    archive.with_suffix(".json").write_text("{")
    assert cached(tmp_path, "tiny", "amd64", "1" * 64) is None
    store(tmp_path, "1").unlink()
    assert cached(tmp_path, "tiny", "amd64", "1" * 64) is None


def test_a_record_of_another_recipe_is_no_entry(tmp_path: Path) -> None:
    store(tmp_path, "1").with_suffix(".json").write_text(record("2").model_dump_json())
    assert cached(tmp_path, "tiny", "amd64", "1" * 64) is None


def test_only_the_last_two_builds_stay(tmp_path: Path) -> None:
    for age, digit in enumerate("4321"):
        store(tmp_path, digit, age=-age)
    assert {path.read_bytes() for path in tmp_path.glob("*.tar")} == {b"1", b"2"}
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_the_cache_follows_the_xdg_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "sandbox-runner" / "images"
    assert cache_dir().is_dir()


def test_a_cache_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sandbox-runner").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="image cache"):
        cache_dir()


def test_a_cache_that_cannot_be_written_is_told_as_such(tmp_path: Path) -> None:
    """Such as the host's, mounted read-only into a controller's container."""
    with pytest.raises(SetupError, match="cannot write to the image cache"):
        obtain(load_inputs(data_dir("images"), "steward"), tmp_path / "nowhere")
