"""Looking at a worked tree within caps, and reading files while they change."""

import os

import pytest
from trees import sample

from runner.errors import PayloadChanged
from runner.payload.fingerprint import Manifest
from runner.payload.hashing import read_files
from runner.payload.sharing import share
from runner.payload.tree import Caps, Kind, walk
from runner.payload.volume import Look, changes_since, look

CAPS = Caps(entries=100, depth=10, name_bytes=255, path_bytes=100)


@pytest.fixture
def root_fd(tmp_path):
    fd = os.open(sample(tmp_path / "t"), os.O_RDONLY)
    yield fd
    os.close(fd)


def test_a_whole_tree_has_no_note(root_fd):
    seen = look(root_fd, CAPS, 1 << 20)
    assert (len(seen.manifest.entries), seen.note, seen.complete) == (8, "", True)


@pytest.mark.parametrize(("caps", "max_bytes", "note"), [
    (CAPS._replace(entries=7), 1 << 20, "too_many_files at "),
    (CAPS._replace(text_bytes=20), 1 << 20, "too_much_text at "),
    (CAPS._replace(depth=1), 1 << 20, "too_deep at d/deep; too_deep at d/x"),
    (CAPS._replace(path_bytes=9), 1 << 20, "path_too_long at d/deep/big; path_too_long at od"),
    (CAPS, 1000, "too_large at d/deep/big (768000 bytes)"),
])
def test_each_cap_is_noted(root_fd, caps, max_bytes, note):
    seen = look(root_fd, caps, max_bytes)
    assert seen.note.startswith(note)
    assert seen.complete is (not note.startswith("too_m"))


def test_many_problems_are_summed_up(tmp_path):
    for number in range(8):
        (tmp_path / str(number)).write_bytes(b"xx")
    fd = os.open(tmp_path, os.O_RDONLY)
    seen = look(fd, CAPS, 1)
    os.close(fd)
    assert seen.note.endswith("too_large at 4 (2 bytes); and 3 more")


def test_half_a_look_claims_no_removals(root_fd):
    whole = look(root_fd, CAPS, 1 << 20).manifest
    nothing = Look(Manifest([]), "too_many_files at x", complete=False)
    assert changes_since(whole, nothing) == ()
    assert {change.kind for change in changes_since(whole, nothing._replace(complete=True))} == {"removed"}


@pytest.mark.parametrize("change", [
    lambda root: (root / "a.txt").write_bytes(b"other"),
    lambda root: os.utime(root / "a.txt", (1, 1)),
    lambda root: (root / "a.txt").unlink(),
    lambda root: (os.rename(root / "a.txt", root / "b"), (root / "a.txt").write_bytes(b"hi\n")),
    lambda root: ((root / "a.txt").unlink(), os.mkfifo(root / "a.txt")),
    lambda root: ((root / "a.txt").unlink(), os.symlink("d-e", root / "a.txt")),
], ids=["content", "time", "gone", "another file", "fifo", "link"])
def test_a_file_that_changes_between_walk_and_read_is_noticed(tmp_path, change):
    root = sample(tmp_path / "t")
    fd = os.open(root, os.O_RDONLY)
    try:
        found = walk(fd, CAPS).found
        change(root)
        with pytest.raises(PayloadChanged, match=r"a\.txt"):
            read_files(fd, found, max_bytes=1 << 20)
    finally:
        os.close(fd)


def test_a_root_that_was_removed_is_empty(tmp_path):
    root = tmp_path / "t"
    root.mkdir()
    fd = os.open(root, os.O_RDONLY)
    root.rmdir()
    assert walk(fd, CAPS).found == []
    os.close(fd)


def test_a_walk_does_not_follow_links(tmp_path):
    root = sample(tmp_path / "t")
    os.symlink("/", root / "everything")
    fd = os.open(root, os.O_RDONLY)
    kinds = {item.path: item.kind for item in walk(fd, CAPS).found}
    os.close(fd)
    assert kinds[b"everything"] is Kind.LINK
    assert len(kinds) == 9


def test_shared_work_raises_the_first_error_and_stops():
    seen = []

    def work(chunks):
        for chunk in chunks:
            seen.extend(chunk)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        share(list(range(10_000)), 1 << 30, work)
    assert len(seen) <= 128


def test_shared_work_is_done_once_each():
    results = share(list(range(1000)), 1 << 30, lambda chunks: [item for chunk in chunks for item in chunk])
    assert sorted(item for part in results for item in part) == list(range(1000))
