"""The canonical tar: other programs read it, and our reader takes nothing else."""

import hashlib
import io
import os
import subprocess
import tarfile

import pytest
from trees import LIMITS, T2024, sample

from runner.errors import PayloadRefused
from runner.payload.copy import unpack
from runner.payload.seal import seal
from runner.payload.tar import END, encode_header, padding, read_header
from runner.payload.tree import Entry, Kind

T = T2024 * 10**9
ENTRIES = [
    Entry(b"a", Kind.FILE, 0o644, T, 0),
    Entry(b"n" * 100, Kind.FILE, 0o4755, T, 7),
    Entry(b"n" * 101, Kind.FILE, 0o644, T, 7),
    Entry(b"d" * 100, Kind.DIR, 0o1777, T),
    Entry("é".encode(), Kind.FILE, 0o644, T + 1, 1),
    Entry(b"\xff\n\x1b", Kind.FILE, 0o644, -1, 1),
    Entry(b"ln", Kind.LINK, 0o777, T, 3, None, b"\xfe/a"),
    Entry(b"ln2", Kind.LINK, 0o777, T, 150, None, b"t" * 150),
    Entry(b"old", Kind.FILE, 0, -1_500_000_000, 0),
    Entry(b"late", Kind.FILE, 0o644, 9_000_000_000 * 10**9, 0),
    Entry(b"huge", Kind.FILE, 0o644, T, 1 << 34),
]


def reader(data):
    stream = io.BytesIO(data)

    def read(count):
        part = stream.read(count)
        if len(part) < count:
            raise EOFError
        return part
    return read


@pytest.mark.parametrize("entry", ENTRIES, ids=range(len(ENTRIES)))
def test_a_header_is_read_back(entry):
    header = encode_header(entry)
    assert len(header) % 512 == 0
    assert read_header(reader(header)) == entry


def test_python_and_tar_read_what_was_sealed(tmp_path):
    root = sample(tmp_path / "t")
    os.utime(root / "a.txt", ns=(T, T + 123_456_789))
    os.symlink("t" * 200, root / "long")
    (root / ("n" * 200)).write_bytes(b"long")
    sealed = seal(root, LIMITS)
    data = b"".join(sealed.stream())
    with tarfile.open(fileobj=io.BytesIO(data), errors="surrogateescape") as archive:
        members = {os.fsencode(member.name): member for member in archive}
        assert set(members) == {entry.path for entry in sealed.manifest.entries}
        assert archive.pax_headers == {}
        for entry in sealed.manifest.entries:
            member = members[entry.path]
            assert (member.uid, member.gid, member.uname, member.mode) == (0, 0, "", entry.mode)
            assert member.mtime == pytest.approx(entry.mtime_ns / 10**9, abs=1e-6)
            assert os.fsencode(member.linkname) == entry.target
            if entry.kind is Kind.FILE:
                assert hashlib.sha256(archive.extractfile(member).read()).digest() == entry.digest
    listed = subprocess.run(["tar", "tf", "-"], input=data, capture_output=True, check=True).stdout.splitlines()
    assert len(listed) == len(sealed.manifest.entries)
    assert b"d/deep/" in listed


def body(*entries):
    parts = [encode_header(entry) + b"x" * entry.size * (entry.kind is Kind.FILE)
             + padding(entry.size * (entry.kind is Kind.FILE)) for entry in entries]
    return b"".join(parts) + END


A, B = Entry(b"a", Kind.FILE, 0o644, T, 1), Entry(b"b", Kind.FILE, 0o644, T, 1)
D = Entry(b"d", Kind.DIR, 0o755, T)
MALFORMED = {
    "no stream": b"\1" * 512,
    "one zero block": body(A)[:-512] + b"\1" * 512,
    "checksum": body(A).replace(b"ustar", b"uStar", 1),
    "padding": body(A)[:513] + b"\1" + body(A)[514:],
    "out of order": body(B, A),
    "twice": body(A, A),
    "climbing": body(A._replace(path=b"../a")),
    "absolute": body(A._replace(path=b"/a")),
    "dot": body(A._replace(path=b"./a")),
    "empty name": body(A._replace(path=b"a//b")),
    "hard link": body(A).replace(b"\0 0\0", b"\0 1\0"),
    "extended header of nothing": encode_header(A).replace(b"\0 0\0", b"\0 x\0") + bytes(2048),
    "global header": encode_header(A._replace(path=b"\xff")).replace(b"x", b"g", 1),
    "a size below nothing": encode_header(A._replace(size=-5)) + bytes(2048),
    "a mode below nothing": encode_header(A._replace(mode=-1)) + bytes(2048),
    "a mode that holds a kind": encode_header(A._replace(mode=0o100644)) + bytes(2048),
    "a file with a target": encode_header(A._replace(target=b"x")) + bytes(2048),
    "a directory with a target": encode_header(D._replace(target=b"x")) + bytes(2048),
    "a link with a NUL": encode_header(Entry(b"l", Kind.LINK, 0o777, T, 3, None, b"a\0b")) + END,
    "a link to nothing": encode_header(Entry(b"l", Kind.LINK, 0o777, T, 0, None, b"")) + END,
    "a link with a mode": encode_header(Entry(b"l", Kind.LINK, 0o644, T, 1, None, b"a")) + END,
    "foreign": None,
}


def foreign():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return stream.getvalue()


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
def test_anything_else_is_refused(tmp_path, data):
    root_fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(PayloadRefused) as refusal:
            unpack(reader(foreign() if data is None else data), root_fd, LIMITS)
    finally:
        os.close(root_fd)
    assert refusal.value.rule == "malformed_stream"
    assert not (tmp_path.parent / "a").exists()


@pytest.mark.parametrize(("rule", "limits"), [
    ("too_many_files", LIMITS._replace(files=1)), ("too_large", LIMITS._replace(bytes=1)),
    ("too_deep", LIMITS._replace(depth=1)), ("name_too_long", LIMITS._replace(name_bytes=3)),
    ("path_too_long", LIMITS._replace(path_bytes=3))])
def test_limits_hold_for_a_stream_too(tmp_path, rule, limits):
    data = body(D, A._replace(path=b"d/long"), A._replace(path=b"d/z"))
    root_fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(PayloadRefused) as refusal:
            unpack(reader(data), root_fd, limits)
    finally:
        os.close(root_fd)
    assert refusal.value.rule == rule


def test_a_link_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    data = body(Entry(b"d", Kind.LINK, 0o777, T, 10, None, b"../outside"), A._replace(path=b"d/a"))
    root_fd = os.open(tmp_path / "root", os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="Not a directory"):
            unpack(reader(data), root_fd, LIMITS)
    finally:
        os.close(root_fd)
    assert list((tmp_path / "outside").iterdir()) == []
