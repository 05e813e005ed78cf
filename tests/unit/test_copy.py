"""Unpacking, cloning and wiping: everything is kept, nothing is followed, no depth is too deep."""

import io
import os
import resource
from contextlib import contextmanager

import pytest
from trees import LIMITS, memory_folder, run_as_plain_user, sample

from runner.errors import PayloadChanged
from runner.payload.access import Descent
from runner.payload.copy import clone, unpack, wipe
from runner.payload.seal import seal


@contextmanager
def directory(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def few_descriptors():
    """Room for a dozen more than are open now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 12, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def dig(root_fd, levels):
    """A chain of directories that is longer than any path may be."""
    fd = os.dup(root_fd)
    for _ in range(levels):
        os.mkdir("x" * 100, dir_fd=fd)
        below = os.open("x" * 100, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)


def test_a_stream_unpacks_to_what_was_sealed_and_clones_keep_it(tmp_path):
    root = sample(tmp_path / "t")
    os.chmod(root / "d" / "deep", 0o500)
    os.chmod(root / "d-e", 0o4755)
    os.utime(root / "ln", ns=(5, 5), follow_symlinks=False)
    os.utime(root / "d", ns=(7, 1_500_000_007))
    sealed = seal(root, LIMITS)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with directory(tmp_path / "one") as one, directory(tmp_path / "two") as two:
        unpack(io.BytesIO(b"".join(sealed.stream())).read, one, LIMITS)
        clone(one, two)
    assert seal(tmp_path / "one", LIMITS).manifest == sealed.manifest
    assert seal(tmp_path / "two", LIMITS).manifest == sealed.manifest


def test_many_files_clone_in_two_threads(tmp_path):
    source = tmp_path / "source"
    for number in range(300):
        folder = source / f"d{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_bytes(bytes([number % 256]) * (number * 50))
    (tmp_path / "target").mkdir()
    with directory(source) as one, directory(tmp_path / "target") as two:
        clone(one, two)
    assert seal(source, LIMITS).manifest == seal(tmp_path / "target", LIMITS).manifest


def test_nothing_is_overwritten(tmp_path):
    root = sample(tmp_path / "t")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "a.txt").write_bytes(b"mine")
    with directory(root) as source, directory(tmp_path / "target") as target, pytest.raises(FileExistsError):
        clone(source, target)
    assert (tmp_path / "target" / "a.txt").read_bytes() == b"mine"


def test_a_clone_refuses_what_a_sealed_tree_cannot_hold(tmp_path):
    root = sample(tmp_path / "t")
    os.mkfifo(root / "pipe")
    (tmp_path / "target").mkdir()
    with (directory(root) as source, directory(tmp_path / "target") as target,
          pytest.raises(PayloadChanged, match="pipe")):
        clone(source, target)


def test_wiping_follows_no_link(tmp_path):
    outside = sample(tmp_path / "outside")
    root = sample(tmp_path / "t")
    os.symlink(outside, root / "way out")
    os.symlink(outside, root / "d" / "way out")
    os.mkfifo(root / "pipe")
    with directory(root) as fd:
        wipe(fd)
    assert list(root.iterdir()) == []
    assert (outside / "a.txt").read_bytes() == b"hi\n"
    assert len(list(outside.rglob("*"))) == 8


def test_wiping_needs_few_descriptors_however_deep_the_tree():
    with memory_folder() as folder, directory(folder) as fd, few_descriptors():
        dig(fd, 3000)
        wipe(fd)
        assert os.listdir(fd) == []


def test_wiping_is_not_confused_by_names_like_its_own(tmp_path):
    for name in ("w1", "w2", "ww1"):
        (tmp_path / name / "w1" / "w2").mkdir(parents=True)
        (tmp_path / name / "w1" / "w3").touch()
    with directory(tmp_path) as fd:
        wipe(fd)
    assert list(tmp_path.iterdir()) == []


def test_wiping_works_against_modes_without_the_powers_of_root():
    code = ("import os, tempfile\nfrom runner.payload.copy import wipe\nroot = tempfile.mkdtemp()\n"
            "os.makedirs(root + '/a/b/c'); open(root + '/a/b/f', 'w').close()\n"
            "for name in ('a/b/f', 'a/b/c', 'a/b', 'a'): os.chmod(f'{root}/{name}', 0)\n"
            "fd = os.open(root, os.O_RDONLY)\nwipe(fd)\nprint(os.listdir(root))\nos.rmdir(root)\n")
    done = run_as_plain_user(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_descent_that_fails_half_way_does_not_lose_its_place(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").touch()
    with directory(tmp_path) as root_fd, Descent(root_fd) as place:
        with pytest.raises(FileNotFoundError):
            place.at(b"a/b/c/d/e")
        dir_fd, name = place.at(b"a/f")
        assert os.stat(name, dir_fd=dir_fd).st_ino == (tmp_path / "a" / "f").stat().st_ino
        dir_fd, name = place.at(b"top")
        assert (dir_fd, name) == (root_fd, b"top")
