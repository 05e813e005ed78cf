"""Where data folders are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import resources
from runner.errors import SetupError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runner"
    folder.mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", folder)
    return folder


def test_a_checkout_has_them_at_its_top(package: Path) -> None:
    (package.parent / "policies").mkdir()
    assert resources.data_dir("policies") == package.parent / "policies"


def test_an_installed_package_carries_them(package: Path) -> None:
    (package.parent / "policies").mkdir()
    (package / "_data" / "policies").mkdir(parents=True)
    assert resources.data_dir("policies") == package / "_data" / "policies"


def test_their_absence_is_a_broken_set_up(package: Path) -> None:
    with pytest.raises(SetupError, match="the images folder of the program is missing"):
        resources.data_dir("images")
