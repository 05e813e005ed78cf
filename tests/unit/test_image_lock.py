"""images.lock and what is said about differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.errors import InputError
from runner.images.compare import changes
from runner.images.lock import LOCK, ImageRecord, ImagesLock, parse_lock, read_lock, write_lock
from runner.images.packages import differences, parse_status

RECORD = ImageRecord(recipe="a" * 64, suite="bookworm", id="sha256:" + "1" * 64, manifest="sha256:" + "2" * 64,
                     layer="b" * 64, size=10, packages={"bash": "5.2", "git": "2.39"}, programs={"init": "c" * 64},
                     toolchain={"gcc": "12"})


def test_a_written_lock_is_read_back(tmp_path: Path) -> None:
    lock = ImagesLock().with_record("tiny", "linux/amd64", RECORD)
    write_lock(tmp_path, lock)
    assert read_lock(tmp_path) == lock
    assert read_lock(tmp_path).record("tiny", "linux/amd64") == RECORD


def test_a_lock_is_sorted_and_ends_in_a_newline(tmp_path: Path) -> None:
    for order in (("one", "two"), ("two", "one")):
        lock = ImagesLock()
        for name in order:
            lock = lock.with_record(name, "linux/amd64", RECORD)
        write_lock(tmp_path, lock)
        text = (tmp_path / LOCK).read_text()
        assert text.endswith("}\n")
        assert text.index('"one"') < text.index('"two"')


def test_another_platforms_record_stays() -> None:
    other = RECORD.model_copy(update={"size": 11})
    lock = ImagesLock().with_record("tiny", "linux/amd64", RECORD).with_record("tiny", "linux/arm64", other)
    assert (lock.record("tiny", "linux/amd64"), lock.record("tiny", "linux/arm64")) == (RECORD, other)


def test_no_lock_is_an_empty_lock(tmp_path: Path) -> None:
    assert read_lock(tmp_path).record("tiny", "linux/amd64") is None


@pytest.mark.parametrize("raw", [
    b"", b"[]", b"{", b"null", b"\xff", b'{"schema": "runner.images-lock/2", "images": {}}',
    b'{"images": {}, "more": 1}', b'{"images": {"tiny": {"linux/amd64": {}}}}', b"[" * 100_000, b" " * (5 << 20),
    json.dumps({"images": {"t": {"p": {**RECORD.model_dump(), "id": "latest"}}}}).encode(),
], ids=["empty", "list", "cut", "null", "not utf-8", "schema", "unknown key", "no fields", "deep", "huge", "tag as id"])
def test_a_bad_lock_ends_in_one_line(raw: bytes) -> None:
    with pytest.raises(InputError, match=r"images\.lock") as caught:
        parse_lock(raw, "images/images.lock")
    assert "\n" not in caught.value.message


def test_either_digest_leads_to_the_other() -> None:
    lock = ImagesLock().with_record("tiny", "linux/amd64", RECORD)
    assert lock.other_name(RECORD.id) == RECORD.manifest
    assert lock.other_name(RECORD.manifest) == RECORD.id
    assert lock.other_name("sha256:" + "9" * 64) is None


def other(**fields: object) -> ImageRecord:
    return RECORD.model_copy(update={"id": "sha256:" + "3" * 64, **fields})


@pytest.mark.parametrize(("new", "lines"), [
    (RECORD, ()),
    (other(packages={"bash": "5.3", "zip": "1"}), ("bash 5.2 → 5.3", "git 2.39 → -", "zip - → 1")),
    (other(toolchain={"gcc": "13"}), ("gcc 12 → 13 (compiler's chroot)",)),
    (other(recipe="d" * 64), ("recipe aaaaaaaaaaaa → dddddddddddd",)),
    (other(programs={"init": "e" * 64}), ("program init cccccccccccc → eeeeeeeeeeee",)),
    (other(), ("the same recipe and packages gave other bytes",)),
], ids=["same", "packages", "toolchain", "recipe", "program", "bytes"])
def test_a_difference_is_explained(new: ImageRecord, lines: tuple[str, ...]) -> None:
    assert changes(RECORD, new) == lines


def test_a_dpkg_status_gives_names_and_versions() -> None:
    status = (b"Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.2.13\nDescription: x\n Version: 9\n"
              b"\nPackage: bash\nVersion: 5.2\n")
    assert parse_status(status) == {"bash": "5.2", "zlib1g": "1:1.2.13"}


def test_equal_package_sets_have_no_differences() -> None:
    assert differences({"a": "1"}, {"a": "1"}) == []
