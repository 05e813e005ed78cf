"""A user who may not see a store, a directory or the engine's socket is told so; nothing is called empty or a bug."""

import os
from pathlib import Path
from typing import Any

import pytest

from runner.controller.doctor import disk, store
from runner.errors import EngineUnavailable, UsageError
from runner.evidence.database import is_store
from runner.evidence.leftovers import sweep_directories
from runner.sandbox.backends.docker.engine import engine_errors


def denied(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_store_that_cannot_be_seen_is_not_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_store(tmp_path)
    monkeypatch.setattr(os, "lstat", denied)
    with pytest.raises(UsageError, match="the store cannot be used: Permission denied"):
        is_store(tmp_path)


def test_a_directory_that_cannot_be_searched_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep_directories(tmp_path, tmp_path / "none", 0) == ()
    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(UsageError, match=f"{tmp_path}: cannot be searched for what was left: Permission denied"):
        sweep_directories(tmp_path, tmp_path / "none", 0)


def test_an_engine_that_this_user_may_not_use_needs_no_start() -> None:
    with pytest.raises(EngineUnavailable, match="Permission denied") as caught, engine_errors("look at it"):
        denied()
    assert "group `docker`" in caught.value.hint
    assert "systemctl" not in caught.value.hint


def test_the_doctor_tells_of_a_store_that_cannot_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / "hidden"
    real = os.stat

    def guarded(path: Any, *words: Any, **options: Any) -> Any:
        return denied() if str(path).startswith(str(hidden)) else real(path, *words, **options)

    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, guarded)
    assert (store(hidden).status, disk("disk", hidden).name) == ("fail", "disk")
