"""ReproMin's digests: the published test vectors, and what does and does not enter them."""

import os

import pytest
from trees import LIMITS, T2024, sample, settle

from runner.errors import PayloadRefused
from runner.payload.treehash import TreeHashes, tree_hashes

EMPTY = TreeHashes("e790168978454183c1577da7fde62a3e4b8b75e1d7f685b72747e7ff6a63f596",
                   "c9956ff562c22c8f7eee6ab7cc8a2b73979b387fa67612964f943290d644833d")
ONE_FILE = TreeHashes("6bbfa27c3822327a73dad3bdd367454d76ad7a5eb409ae9bf60a235e8f756570",
                      "0461a733ddf369f9aab1155cb301835677d0326deecb51ac1c995c14d5ae37a4")
FIVE_ENTRIES = TreeHashes("3f368566436da86a7f80837971e0c30d1ce623effd58a897d934fc2b0d56654a",
                          "cbed8759b8403ebf41e3ab7c515477a5e9cf9bce45a88cc8d0754774e52c9ecb")


def test_an_empty_directory(tmp_path):
    assert tree_hashes(settle(tmp_path)) == EMPTY


def test_one_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"hi\n")
    assert tree_hashes(settle(tmp_path)) == ONE_FILE


def test_paths_sort_as_whole_bytes(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"hi\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").touch()
    (tmp_path / "d-e").write_bytes(b"1")
    os.symlink("d/x", tmp_path / "ln")
    assert tree_hashes(settle(tmp_path)) == FIVE_ENTRIES


@pytest.mark.parametrize("touch", [
    lambda root: os.utime(root / "a.txt", (T2024, T2024 + 1)),
    lambda root: os.chmod(root / "a.txt", 0o600),
    lambda root: os.utime(root, (T2024, T2024 + 1)),
    lambda root: os.chmod(root, 0o700),
    lambda root: os.setxattr(root / "a.txt", "user.note", b"x"),
], ids=["time", "mode", "root time", "root mode", "attribute"])
def test_metadata_enters_the_exact_digest_only(tmp_path, touch):
    root = sample(tmp_path / "t")
    before = tree_hashes(root)
    touch(root)
    after = tree_hashes(root)
    assert after.exact != before.exact
    assert after.content == before.content


def test_content_enters_both_however_large(tmp_path):
    (tmp_path / "big").write_bytes(b"x" * 5_000_000)
    before = tree_hashes(settle(tmp_path))
    (tmp_path / "big").write_bytes(b"x" * 4_999_999 + b"y")
    after = tree_hashes(settle(tmp_path))
    assert before.exact != after.exact
    assert before.content != after.content


def test_reading_leaves_access_times_alone(tmp_path):
    root = sample(tmp_path / "t")
    tree_hashes(root)
    assert (root / "a.txt").stat().st_atime == T2024


def test_what_sealing_refuses_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PayloadRefused) as refusal:
        tree_hashes(tmp_path, LIMITS)
    assert refusal.value.rule == "fifo"
