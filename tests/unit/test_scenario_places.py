"""Directories that a stranger prepared: one line each, and nothing outside is ever read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scenario_drafts import changed, written

from runner.errors import InputError
from runner.scenarios import files
from runner.scenarios.load import load_scenario


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_scenario(folder)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500 + len(str(folder))
    return caught.value.message


@pytest.mark.parametrize("raw", [
    b"", b"{", b"[]", b"null", b"5", b'"x"', b"\xff\xfe{", b"\xef\xbb\xbf{}", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"name": 1, "name": 2}', b'{"name": NaN}', b'{"name": -Infinity}', b'{"name": 1' + b"0" * 5000 + b"}",
    b"[" + b"{}," * 250_000 + b"{}]", b" " * (5 << 20), b'{"\\ud800": 1}', b'{"name": "\\ud800"}', b"\0" * 100])
def test_a_manifest_that_is_none(tmp_path: Path, raw: bytes) -> None:
    assert refusal(written(tmp_path / "s", raw)).startswith(f"{tmp_path}/s/manifest.json: ")


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("none", "file", "x" * 5000, "a\0b"):
        assert refusal(tmp_path / place).startswith(str(tmp_path))
    (tmp_path / "empty").mkdir()
    assert "empty/manifest.json: cannot be read: No such file" in refusal(tmp_path / "empty")


@pytest.mark.parametrize("kind", ["fifo", "directory"])
def test_a_manifest_of_another_kind(tmp_path: Path, kind: str) -> None:
    folder = written(tmp_path / "s")
    (folder / "manifest.json").unlink()
    if kind == "directory":
        (folder / "manifest.json").mkdir()
    else:
        os.mkfifo(folder / "manifest.json")
    assert refusal(folder).startswith(f"{folder}/manifest.json: is ")


def test_links_stay_inside(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", changed("script", "link.js"), lib__real_js="import './more.js'", lib__more_js="")
    (folder / "link.js").symlink_to("lib/real.js")
    (folder / "manifest.json").rename(folder / "own.json")
    (folder / "manifest.json").symlink_to("own.json")
    (folder / "dangling").symlink_to("nothing")
    (folder / "loop").symlink_to("loop")
    assert sorted(load_scenario(folder).files) == ["lib/more.js", "lib/real.js"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../other", "../../s2", "/nowhere", "../lib/../../s2"])
def test_a_link_that_leads_out_is_named(tmp_path: Path, target: str) -> None:
    (tmp_path / "s2").mkdir()
    folder = written(tmp_path / "s", lib__x_js="")
    (folder / "lib" / "evil\x1b").symlink_to(target)
    assert refusal(folder) == f"{folder}/lib/evil\\x1b: is a symbolic link that leads out of the scenario's directory"


def test_a_manifest_that_is_a_link_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "s")
    (folder / "manifest.json").rename(tmp_path / "outside.json")
    (folder / "manifest.json").symlink_to("../outside.json")
    assert refusal(folder).startswith(f"{folder}/manifest.json: is a symbolic link that leads out")


def test_pipes_have_no_place(tmp_path: Path) -> None:
    os.mkfifo(written(tmp_path / "s") / "pipe")
    assert refusal(tmp_path / "s") == f"{tmp_path}/s/pipe: is neither a file nor a directory"


def test_the_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    written(tmp_path / "s")
    (tmp_path / "link").symlink_to("s")
    assert load_scenario(tmp_path / "link").directory == tmp_path / "s"


def test_too_deep(tmp_path: Path) -> None:
    deep = written(tmp_path / "s")
    for _ in range(40):
        deep /= "d"
        deep.mkdir()
    assert "nested deeper than 32" in refusal(tmp_path / "s")


def test_too_many_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = written(tmp_path / "large", journeys_js="")
    os.truncate(large / "journeys.js", files.MAX_BYTES + 1)
    assert "large/.: holds more than" in refusal(large)
    monkeypatch.setattr(files, "MAX_FILES", 3)
    assert "s/.: holds more than 3 files" in refusal(written(tmp_path / "s", a_js="", b_js=""))


def test_a_script_that_is_too_large(tmp_path: Path) -> None:
    folder = written(tmp_path / "s")
    os.truncate(folder / "journeys.js", files.MAX_SCRIPT + 1)
    assert refusal(folder) == f"{folder}/journeys.js: larger than 8 MiB"
