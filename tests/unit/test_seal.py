"""Sealing refuses by named rule, follows nothing, writes nothing, and notices change."""

import os
import socket

import pytest
from trees import LIMITS, PLAIN_USER, T2024, memory_folder, run_as_plain_user, sample

from runner.errors import PayloadChanged, PayloadRefused
from runner.payload.rules import MESSAGES, judge
from runner.payload.seal import check_unchanged, seal, survey
from runner.payload.tree import Found, Kind


def hard_link(root):
    (root / "one").write_bytes(b"1")
    os.link(root / "one", root / "two")


def bind_socket(root):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "s"))


def through_another_link(root):
    (root / "d").mkdir()
    os.symlink("..", root / "d" / "up")
    os.symlink("d/up/../outside", root / "ln")


def sparse(root):
    (root / "b").touch()
    os.truncate(root / "b", 1 << 40)


def deep(levels):
    return lambda root: (root / "/".join(["x"] * levels)).mkdir(parents=True)


def files(count):
    return lambda root: [(root / str(number)).touch() for number in range(count)]


REFUSED = {
    "absolute link": ("absolute_symlink", b"ln", lambda root: os.symlink("/etc/passwd", root / "ln")),
    "link out": ("escaping_symlink", b"ln", lambda root: os.symlink("../x", root / "ln")),
    "link out and back": ("escaping_symlink", b"ln", lambda root: os.symlink(f"../{root.name}/x", root / "ln")),
    "link out through a missing name": ("escaping_symlink", b"ln",
                                        lambda root: os.symlink("no/../../x", root / "ln")),
    "link out through a link": ("escaping_symlink", b"ln", through_another_link),
    "hard link": ("hard_link", b"one", hard_link),
    "fifo": ("fifo", b"p", lambda root: os.mkfifo(root / "p")),
    "socket": ("socket", b"s", bind_socket),
    "entries": ("too_many_files", None, files(6)),
    "size": ("too_large", b"b", lambda root: (root / "b").write_bytes(b"x" * 101)),
    "sparse size": ("too_large", b"b", sparse),
    "depth": ("too_deep", b"x/x/x/x", deep(4)),
    "name": ("name_too_long", b"n" * 21, lambda root: (root / ("n" * 21)).touch()),
    "path": ("path_too_long", b"/".join([b"n" * 15] * 3),
             lambda root: (root / "/".join(["n" * 15] * 3)).mkdir(parents=True)),
    "case": ("case_collision", b"a", lambda root: [(root / name).touch() for name in ("A", "a")]),
    "normal form": ("normalisation_collision", "é".encode(),
                    lambda root: [(root / name).touch() for name in ("e\u0301", "\u00e9")]),
}
TIGHT = LIMITS._replace(files=5, bytes=100, depth=3, name_bytes=20, path_bytes=40, portable_names=True)


@pytest.mark.parametrize(("rule", "path", "make"), REFUSED.values(), ids=REFUSED.keys())
def test_an_entry_is_refused_by_rule_and_path(tmp_path, rule, path, make):
    root = tmp_path / "payload"
    root.mkdir()
    make(root)
    with pytest.raises(PayloadRefused) as refusal:
        seal(root, TIGHT)
    assert refusal.value.rule == rule
    assert path in (None, refusal.value.path)
    assert f"rule {rule}" in refusal.value.message
    assert survey(root, TIGHT).refusals[0].rule == rule


def test_a_device_is_refused_without_one_at_hand():
    null = Found(b"null", Kind.DEVICE, 0o666, 0, 0, b"", 0, 0, 1)
    assert [problem.rule for problem in judge([null], LIMITS)] == ["device"]


def test_an_unreadable_file_is_refused():
    code = ("import os, tempfile\nfrom runner.payload.seal import *\nfrom runner.errors import PayloadRefused\n"
            "root = tempfile.mkdtemp()\nopen(root + '/x', 'w').close(); os.mkdir(root + '/d'); os.mkdir(root + '/q')\n"
            "open(root + '/q/z', 'w').close()\n"
            "for name, mode in (('x', 0), ('d', 0o300), ('q', 0o400)):\n"
            "    os.chmod(f'{root}/{name}', mode)\n"
            "    try: seal(root, DEFAULT_LIMITS)\n"
            "    except PayloadRefused as error: print(error.rule, error.path)\n"
            "    os.chmod(f'{root}/{name}', 0o700)\n"
            "import shutil; shutil.rmtree(root)\n")
    done = run_as_plain_user(code)
    assert (done.stdout, done.stderr) == ("unreadable b'x'\nunreadable b'd'\nunreadable b'q/z'\n", "")


@pytest.mark.parametrize("target", ["d/x", "missing", "d/../a.txt", "d/./missing/../x", "self", "d/up/a.txt"])
def test_relative_links_that_stay_inside_are_fine(tmp_path, target):
    root = sample(tmp_path / "t")
    os.symlink("..", root / "d" / "up")
    os.symlink(target, root / "self")
    sealed = seal(root, LIMITS)
    assert os.fsencode(target) in [entry.target for entry in sealed.manifest.entries]


def test_a_web_of_links_costs_bounded_time():
    many = [Found(b"l%d" % number, Kind.LINK, 0o777, 0, 0, (b"l%d/" % (number + 1)) * 40, 0, 0, 1)
            for number in range(2000)]
    assert all(problem.rule == "escaping_symlink" for problem in judge(many, LIMITS))


def test_the_root_must_be_a_directory_and_no_link(tmp_path):
    root = sample(tmp_path / "t")
    os.symlink("t", tmp_path / "ln")
    cases = {root / "a.txt": "root_not_directory", tmp_path / "none": "root_not_directory",
             tmp_path / "ln": "root_is_link", f"{tmp_path}/ln/": "root_is_link", "a\0b": "root_not_directory"}
    for path, rule in cases.items():
        with pytest.raises(PayloadRefused) as refusal:
            seal(path, LIMITS)
        assert refusal.value.rule == rule
        assert [each.rule for each in survey(path, LIMITS).refusals] == [rule]


def test_counts_and_byte_names(tmp_path):
    sealed = seal(sample(tmp_path / "t"), LIMITS)
    assert (sealed.files, sealed.bytes, sealed.fingerprint.entries) == (5, 3 + 256 * 3000 + 1 + 3, 8)
    assert b"od\nd \x1b[31m\xff" in [entry.path for entry in sealed.manifest.entries]


def test_a_refusal_is_safe_to_print(tmp_path):
    os.mkfifo(os.path.join(os.fsencode(tmp_path), b"\x1b[2J\n\xff"))
    with pytest.raises(PayloadRefused, match=r"\\x1b\[2J\\n\\xff") as refusal:
        seal(tmp_path, LIMITS)
    assert refusal.value.message.isprintable()


def test_nothing_is_written_not_even_times(tmp_path):
    root = sample(tmp_path / "t")
    for directory, _, _ in os.walk(root, topdown=False):
        os.chmod(directory, 0o555)
        os.utime(directory, (T2024, T2024))
    paths = [root, *root.rglob("*")]
    before = [path.lstat() for path in paths]
    sealed = seal(root, LIMITS)
    b"".join(sealed.stream())
    check_unchanged(sealed)
    for path, was in zip(paths, before, strict=True):
        now = path.lstat()
        assert (now.st_mtime_ns, now.st_ctime_ns, now.st_mode) == (was.st_mtime_ns, was.st_ctime_ns, was.st_mode)
        assert path.is_symlink() or now.st_atime_ns == was.st_atime_ns


def test_a_payload_of_someone_else_can_be_sealed():
    with memory_folder() as folder:
        root = sample(folder / "t")
        done = run_as_plain_user("from runner.payload.seal import *; print(seal(sys.argv[1], DEFAULT_LIMITS).files)",
                                 str(root))
        assert (done.stdout, done.stderr) == ("5\n", "")
        assert root.stat().st_uid != PLAIN_USER


def rewrite_in_place(root):
    status = (root / "a.txt").stat()
    (root / "a.txt").write_bytes(b"ho\n")
    os.utime(root / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGED = {
    "same size and time": ("a.txt", rewrite_in_place),
    "mode": ("a.txt", lambda root: (root / "a.txt").chmod(0o600)),
    "time": ("a.txt", lambda root: os.utime(root / "a.txt", (0, 0))),
    "added": ("new", lambda root: (root / "new").touch()),
    "removed": ("a.txt", lambda root: (root / "a.txt").unlink()),
    "refused": ("fifo", lambda root: os.mkfifo(root / "fifo")),
    "gone": ("not a directory", lambda root: root.rename(root.parent / "elsewhere")),
}


@pytest.mark.parametrize(("named", "change"), CHANGED.values(), ids=CHANGED.keys())
def test_a_change_after_sealing_is_named(tmp_path, named, change):
    root = sample(tmp_path / "t")
    sealed = seal(root, LIMITS)
    check_unchanged(sealed)
    change(root)
    with pytest.raises(PayloadChanged, match=named):
        check_unchanged(sealed)


@pytest.mark.parametrize("change", [
    rewrite_in_place,
    lambda root: (root / "a.txt").write_bytes(b"longer than it was"),
    lambda root: (root / "a.txt").write_bytes(b""),
    lambda root: (root / "a.txt").unlink(),
    lambda root: ((root / "a.txt").unlink(), os.symlink("/etc/passwd", root / "a.txt")),
    lambda root: ((root / "a.txt").unlink(), os.mkfifo(root / "a.txt")),
    lambda root: ((root / "d").rename(root / "e"), os.symlink("e", root / "d")),
], ids=["content", "longer", "shorter", "gone", "link", "fifo", "directory became link"])
def test_a_stream_ends_in_an_error_when_a_file_is_no_longer_what_was_sealed(tmp_path, change):
    root = sample(tmp_path / "t")
    sealed = seal(root, LIMITS)
    change(root)
    with pytest.raises(PayloadChanged):
        b"".join(sealed.stream())


def test_a_survey_lists_everything(tmp_path):
    root = sample(tmp_path / "t")
    os.symlink("/x", root / "abs")
    hard_link(root)
    seen = survey(root, LIMITS)
    assert [(refusal.rule, refusal.path) for refusal in seen.refusals] == [
        ("absolute_symlink", b"abs"), ("hard_link", b"one"), ("hard_link", b"two")]
    assert (seen.entries, seen.files) == (11, 7)
    assert seen.fingerprint is not None
    os.mkfifo(root / "p")
    assert survey(root, LIMITS).fingerprint is None


def test_every_rule_has_a_message_and_a_test():
    tested = {rule for rule, _, _ in REFUSED.values()}
    assert set(MESSAGES) - tested == {"device", "unreadable", "root_is_link", "root_not_directory", "too_much_text"}
