"""Any tree survives seal, stream, unpack and clone; a difference is empty exactly when contents are equal."""

import io
import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import PayloadRefused, ReportError
from runner.payload import frames
from runner.payload.copy import clone, unpack, wipe
from runner.payload.escape import escape, unescape
from runner.payload.fingerprint import Manifest, diff
from runner.payload.seal import SealLimits, seal, survey
from runner.payload.tar import encode_header, read_header
from runner.payload.tree import Entry, Kind
from runner.payload.treehash import tree_hashes

LIMITS = SealLimits(files=200, bytes=1 << 20, depth=20, name_bytes=255, path_bytes=4096)
NAMES = st.binary(min_size=1, max_size=12).map(lambda raw: raw.replace(b"/", b"_").replace(b"\0", b"~")).filter(
    lambda name: name not in (b".", b".."))
TIMES = st.integers(-2**33, 2**33).map(lambda ns: ns * 1_000_000_007 // 1000)
MODES = st.sampled_from([0o644, 0o4755, 0o600, 0])
LEAVES = st.one_of(st.tuples(st.just("file"), st.binary(max_size=600), MODES, TIMES),
                   st.tuples(st.just("link"), NAMES, st.just(0), TIMES))
TREES = st.recursive(st.dictionaries(NAMES, LEAVES, max_size=5),
                     lambda inner: st.dictionaries(NAMES, st.one_of(LEAVES, inner), max_size=5), max_leaves=15)


def build(tree, root):
    """Make a tree of the above on disk; a directory is made before its content and finished after it."""
    for name, node in tree.items():
        path = os.path.join(root, name)
        if isinstance(node, dict):
            os.mkdir(path)
            build(node, path)
            os.utime(path, ns=(0, len(node) * 10**9 + 1))
            continue
        kind, data, mode, mtime = node
        if kind == "link":
            os.symlink(data, path)
        else:
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)
        os.utime(path, ns=(0, mtime), follow_symlinks=False)


@contextmanager
def place(tree=None):
    with TemporaryDirectory() as name:
        if tree is not None:
            build(tree, os.fsencode(name))
        fd = os.open(name, os.O_RDONLY)
        try:
            yield Path(name), fd
        finally:
            wipe(fd)
            os.close(fd)


@given(TREES)
@settings(max_examples=60)
def test_seal_stream_unpack_clone_keep_the_manifest(tree):
    with place(tree) as (root, _), place() as (one, one_fd), place() as (two, two_fd):
        sealed = seal(root, LIMITS)
        data = b"".join(sealed.stream())
        unpack(io.BytesIO(data).read, one_fd, LIMITS)
        clone(one_fd, two_fd)
        assert seal(one, LIMITS).manifest == sealed.manifest
        again = seal(two, LIMITS)
        assert again.manifest == sealed.manifest
        assert b"".join(again.stream()) == data
        assert tree_hashes(two).content == tree_hashes(root).content
        assert survey(root, LIMITS).fingerprint == sealed.fingerprint


@given(TREES, TREES)
@settings(max_examples=60)
def test_a_difference_is_empty_exactly_when_contents_and_modes_are_equal(first, second):
    with place(first) as (one, _), place(second) as (two, _):
        before, after = seal(one, LIMITS), seal(two, LIMITS)
        changes = diff(before.manifest, after.manifest)
        content = [change for change in changes if change.kind != "mode"]
        assert (not content) == (before.fingerprint.content == after.fingerprint.content)
        without_times = [Manifest(entry._replace(mtime_ns=0) for entry in each.manifest.entries).render(exact=True)
                         for each in (before, after)]
        assert (not changes) == (without_times[0] == without_times[1])
        assert [change.path for change in changes] == sorted(change.path for change in changes)
        assert all(change.detail.isprintable() for change in changes)


PATHS = st.lists(NAMES, min_size=1, max_size=4).map(b"/".join)
ENTRIES = st.one_of(
    st.builds(Entry, PATHS, st.just(Kind.FILE), st.integers(0, 0o7777), st.integers(-2**62, 2**62),
              st.integers(0, 2**40), st.binary(min_size=32, max_size=32), st.just(b"")),
    st.builds(Entry, PATHS, st.just(Kind.DIR), st.integers(0, 0o7777), st.integers(-2**62, 2**62), st.just(0),
              st.none(), st.just(b"")),
    st.builds(lambda path, mtime, target: Entry(path, Kind.LINK, 0o777, mtime, len(target), None, target),
              PATHS, st.integers(-2**62, 2**62), st.binary(min_size=1, max_size=200).map(
                  lambda raw: raw.replace(b"\0", b"~"))))


@given(st.lists(ENTRIES, max_size=8, unique_by=lambda entry: entry.path))
def test_parse_is_the_inverse_of_render(entries):
    manifest = Manifest(entries)
    text = manifest.render(exact=True)
    assert Manifest.parse(text) == manifest
    assert text.count(b"\n") == len(entries) + 1
    assert all(0x20 <= code < 0x7F or code == 0x0A for code in text)


@given(ENTRIES)
def test_a_tar_header_is_read_back(entry):
    assert read_header(io.BytesIO(encode_header(entry)).read) == entry._replace(digest=None)


@given(st.binary(max_size=2000))
def test_a_tar_reader_only_ever_refuses(data):
    padded = io.BytesIO(data + bytes(4096))
    try:
        entry = read_header(padded.read)
    except PayloadRefused:
        return
    assert entry is None or padded.getvalue().startswith(encode_header(entry))


@given(st.binary(max_size=300))
def test_a_manifest_parser_only_ever_refuses(data):
    text = b"manifest-sha256-v1 exact\n" + data
    try:
        manifest = Manifest.parse(text)
    except ReportError:
        return
    assert manifest.render(exact=True) == text


@given(st.binary(max_size=50))
def test_escaping_is_undone(raw):
    escaped = escape(raw)
    assert unescape(escaped) == raw
    assert escaped.isascii()
    assert not {0x20, 0x0A} & set(escaped)


@given(st.lists(st.binary(max_size=100), max_size=10))
def test_frames_carry_any_fields(fields):
    stream = io.BytesIO(frames.encode(frames.ITEM, *fields))
    frame = frames.read_frame(stream.read)
    assert (frame.tag, frame.fields, stream.read()) == (frames.ITEM, tuple(fields), b"")


@given(st.binary(max_size=100))
def test_a_frame_body_only_ever_refuses(body):
    try:
        fields = frames.unpack(body)
    except frames.FrameError:
        return
    assert frames.encode(frames.ITEM, *fields) == frames.raw(frames.ITEM, body)
