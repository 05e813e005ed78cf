"""Threat: a bundle that expands, leads out, lies about itself or hides more than it shows (rows 5, 6, 7, 8, 9, 10).

Archives are made by Python's tarfile and the zstd library as a stranger would make them, and byte by byte where
these are too well-behaved. Whatever a bundle is, nothing is written and one line says which rule it breaks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from runner.bundle.document import describe_bundle
from runner.bundle.layout import DOCUMENT, FREE_BYTES, MAX_BLOCK, REPORT, own_file
from runner.bundle.read import opened, read_bundle
from runner.cli.bundle import command
from runner.errors import BundleRefused
from runner.payload.seal import DEFAULT_LIMITS, seal
from runner.payload.tar import END, encode_header
from runner.payload.tree import Entry, Kind
from tests.bundles import (
    NOBODYS,
    below,
    bundle,
    directory,
    file,
    foreign,
    foreign_info,
    head,
    link,
    member,
    packed,
    report_of,
    true_bundle,
    zstd,
)

ROOT = Path(__file__).resolve().parents[2]
LIMITS = DEFAULT_LIMITS._replace(files=1000, bytes=256 << 20)
FRAME = b"\x28\xb5\x2f\xfd\x04\x50"
"""Magic, a header with a checksum and nothing else, a window of 1 MiB."""


def block(data: bytes, last: int = 0) -> bytes:
    """A raw block."""
    return (len(data) << 3 | last).to_bytes(3, "little") + data


def zeros(count: int) -> bytes:
    """``count`` blocks of four bytes, each 128 KiB of zeros."""
    return ((MAX_BLOCK << 3 | 2).to_bytes(3, "little") + b"\0") * count


def claimed(size: int) -> bytes:
    """The header of a file of that size, without its content."""
    return encode_header(Entry(below("zeros"), Kind.FILE, 0o644, 0, size))


def refused(place: Path, data: bytes, rule: str, limits: object = LIMITS) -> None:
    """The rule, and that unpacking says it in one line and leaves everything as it was."""
    bug = place / "bug.repro"
    bug.write_bytes(data)
    with pytest.raises(BundleRefused) as refusal:
        read_bundle(bug, limits)
    assert refusal.value.rule == rule, refusal.value.message
    done = CliRunner().invoke(command, ["unpack", str(bug), "-o", str(place / "out")])
    assert (done.exit_code, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert done.stderr.rstrip("\n").isprintable()
    assert [path.name for path in place.iterdir()] == ["bug.repro"]


CANONICAL = {
    "absolute": ("not_canonical", file(b"/payload/x", b"x")),
    "climbing out": ("not_canonical", file(below("../../x"), b"x")),
    "climbing inside": ("not_canonical", file(below("d/../x"), b"x")),
    "dot": ("not_canonical", file(below("./x"), b"x")),
    "empty name": ("not_canonical", file(below("d//x"), b"x")),
    "beside the payload": ("layout", file(b"x", b"x")),
    "another report": ("layout", file(b"report.json", b"{}")),
    "a name that begins alike": ("layout", file(b"payload-x", b"x")),
    "the payload's directory again": ("layout", directory(b"payload")),
    "link to an absolute path": ("absolute_symlink", link(below("ln"), b"/etc/passwd")),
    "link out": ("escaping_symlink", link(below("ln"), b"../report.json")),
    "link out through a link": ("escaping_symlink", directory(below("d")) + link(below("d/up"), b"..")
                                + link(below("ln"), b"d/up/../x")),
    "link out through a missing name": ("escaping_symlink", link(below("ln"), b"no/../../x")),
    "file below a link": ("no_parent", directory(below("d")) + link(below("ln"), b"d") + file(below("ln/x"), b"x")),
    "file below a file": ("no_parent", file(below("f"), b"x") + file(below("f/x"), b"x")),
    "file without its directory": ("no_parent", file(below("d/x"), b"x")),
    "twice": ("order", file(below("x"), b"1") + file(below("x"), b"2")),
    "file, then link": ("order", file(below("x"), b"1") + link(below("x"), b"y")),
    "out of order": ("order", file(below("y")) + file(below("x"))),
    "directory after its file": ("no_parent", file(below("d/x")) + directory(below("d"))),
    "mode with a kind": ("not_canonical", file(below("x"), mode=0o20644)),
    "link with a NUL": ("not_canonical", link(below("ln"), b"a\0b")),
    "link to nothing": ("not_canonical", link(below("ln"), b"")),
    "size below nothing": ("not_canonical", claimed(-5)),
    "name": ("name_too_long", file(below("n" * 256))),
    "path": ("path_too_long", b"".join(directory(below("/".join(["n" * 250] * depth))) for depth in range(1, 18))),
    "depth": ("too_deep", b"".join(directory(below("/".join("d" * depth))) for depth in range(1, 66))),
    "padding": ("not_canonical", file(below("x"), b"x")[:-1] + b"x"),
}


@pytest.mark.parametrize(("rule", "members"), CANONICAL.values(), ids=CANONICAL.keys())
def test_names_and_links_lead_nowhere(tmp_path: Path, rule: str, members: bytes) -> None:
    """Row 5, 6: entries that our own writer would spell just so, and would never write."""
    refused(tmp_path, bundle(members), rule)


FOREIGN = {
    "absolute": foreign_info("/etc/cron.d/x"),
    "climbing out": foreign_info("payload/../../x"),
    "hard link": foreign_info("payload/x", tarfile.LNKTYPE, "/etc/passwd"),
    "hard link inside": foreign_info("payload/x", tarfile.LNKTYPE, "report.json"),
    "link out": foreign_info("payload/x", tarfile.SYMTYPE, "/etc/passwd"),
    "device": foreign_info("payload/x", tarfile.CHRTYPE),
    "block device": foreign_info("payload/x", tarfile.BLKTYPE),
    "fifo": foreign_info("payload/x", tarfile.FIFOTYPE),
    "contiguous file": foreign_info("payload/x", tarfile.CONTTYPE),
    "unknown kind": foreign_info("payload/x", b"Z"),
    "path by an extended header": foreign_info("payload/x", path="../../x"),
    "size by an extended header": foreign_info("payload/x", size="10737418240"),
    "sparse": foreign_info("payload/x", **{"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                           "GNU.sparse.realsize": "10737418240", "GNU.sparse.name": "payload/x"}),
    "attributes": foreign_info("payload/x", **{"SCHILY.xattr.security.capability": "x"}),
    "comment": foreign_info("payload/x", comment="x" * 200),
    "very long header": foreign_info("payload/x", comment="x" * 100_000),
    "long name": foreign_info("payload/" + "n" * 5000),
}


@pytest.mark.parametrize("info", FOREIGN.values(), ids=FOREIGN.keys())
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
def test_what_our_writer_does_not_write_is_refused(tmp_path: Path, info: tarfile.TarInfo, form: int) -> None:
    """Row 5, 6, 8: hard links, devices, fifos, sparse files, extended headers that say another name or size."""
    info.uid = 1  # with an owner of its own even the harmless entries are not ours
    refused(tmp_path, bundle(foreign(info, form=form)), "not_canonical")


def test_a_global_header_is_refused(tmp_path: Path) -> None:
    """Row 6: one header that would rename every entry after it."""
    header = tarfile.TarInfo.create_pax_global_header({"path": "../../x"})
    refused(tmp_path, bundle(header, file(below("x"))), "not_canonical")
    refused(tmp_path, zstd(header + head() + END), "not_canonical")


def test_names_that_collide_are_refused_where_the_policy_says_so(tmp_path: Path) -> None:
    """Row 10: names that are one file on a system that folds case or normalises."""
    portable = LIMITS._replace(portable_names=True)
    for names, rule in ((("A", "a"), "case_collision"), (("e\u0301", "\u00e9"), "normalisation_collision")):
        refused(tmp_path, bundle(*(file(below(name)) for name in names)), rule, portable)


def test_ten_gigabytes_that_are_only_told_of_are_refused_unread(tmp_path: Path) -> None:
    """Row 7: the header of a file of 10 GiB, in a bundle of some hundred bytes."""
    refused(tmp_path, bundle(claimed(10 << 30)), "too_large")
    refused(tmp_path, bundle(*(file(below(f"{n:04}")) for n in range(1001))), "too_many_files")


BOMB = FRAME + block(head() + claimed(200 << 20)) + zeros(80 * 1024)
"""320 KiB that expand to 10 GiB; the header tells of no more than the policy allows."""


@pytest.mark.parametrize(("data", "rule"), [
    (BOMB, "ratio"), (FRAME + block(head() + claimed(200 << 20)) + zeros(2500), "ratio"),
    (FRAME + zeros(80 * 1024), "layout"),
    (FRAME + block(encode_header(own_file(DOCUMENT, 10 << 30))), "document_too_large"),
    (FRAME + block(head()[:1024] + encode_header(own_file(REPORT, 10 << 30))), "report_too_large"),
], ids=["10 GiB", "10 kB", "nothing but zeros", "document", "report"])
def test_a_bomb_is_refused_at_its_cap(tmp_path: Path, data: bytes, rule: str) -> None:
    """Row 7: blocks of four bytes that expand to 128 KiB each; what is expanded stays below the cap."""
    refused(tmp_path, data, rule)
    with opened(tmp_path / "bug.repro", LIMITS) as (frame, _):
        with pytest.raises(BundleRefused):
            all(iter(lambda: frame.read(512), b""))
        assert frame.logical_bytes <= FREE_BYTES + MAX_BLOCK


PEAK = """
import re, sys
from runner.bundle.read import read_bundle
from runner.errors import BundleRefused
from runner.payload.seal import DEFAULT_LIMITS
try:
    read_bundle(sys.argv[1], DEFAULT_LIMITS)
    print("read")
except BundleRefused as error:
    print(error.rule)
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def test_a_bomb_takes_no_memory(tmp_path: Path) -> None:
    """Row 7: the reader of the bomb needs hardly more than the reader of a bundle of nothing."""
    said, peaks = [], []
    for data in (BOMB, true_bundle((), b"")):
        done = subprocess.run([sys.executable, "-c", PEAK, str(_write(tmp_path, data))], cwd=ROOT,
                              capture_output=True, text=True, check=True)
        outcome, peak = done.stdout.split()
        said.append(outcome)
        peaks.append(int(peak))
    assert said == ["ratio", "read"]
    assert peaks[0] - peaks[1] < 8 << 10


def test_many_tiny_blocks_are_refused(tmp_path: Path) -> None:
    """Row 7: three bytes a block, nothing in it: a megabyte of these would keep a reader busy for nothing."""
    refused(tmp_path, FRAME + block(b"") * 100_000, "frame")
    refused(tmp_path, FRAME + b"".join(block(bytes((byte,))) for byte in head()[:1000]), "frame")


GOOD = true_bundle((), b"")
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0skip"


def compressed(**options: object) -> bytes:
    """The good stream in a frame of another kind."""
    return zstandard.ZstdCompressor(**options).compress(zstandard.ZstdDecompressor().decompress(  # type: ignore[arg-type]
        GOOD, max_output_size=1 << 20))


DICTIONARY = zstandard.ZstdCompressionDict(b"\x37\xa4\x30\xec" + bytes(range(256)) * 8,
                                           dict_type=zstandard.DICT_TYPE_RAWCONTENT)
FRAMES = {
    "a second frame": ("trailing_bytes", GOOD + GOOD),
    "an empty second frame": ("trailing_bytes", GOOD + zstd(b"")),
    "a skippable frame after it": ("trailing_bytes", GOOD + SKIPPABLE),
    "a skippable frame before it": ("not_a_bundle", SKIPPABLE + GOOD),
    "a zip after it": ("trailing_bytes", GOOD + b"PK\x05\x06" + bytes(18)),
    "one byte after it": ("trailing_bytes", GOOD + b"\0"),
    "data after the archive": ("trailing_bytes", zstd(zstandard.ZstdDecompressor().decompress(
        GOOD, max_output_size=1 << 20) + bytes(512))),
    "half of it": ("truncated", GOOD[:len(GOOD) // 2]),
    "all but its last byte": ("truncated", GOOD[:-1]),
    "no end of the archive": ("truncated", zstd(head())),
    "one zero block": ("truncated", zstd(head() + bytes(512))),
    "another checksum": ("corrupt", GOOD[:-1] + bytes((GOOD[-1] ^ 1,))),
    "no checksum": ("frame", compressed(write_checksum=False)),
    "a reserved kind of block": ("frame", FRAME + b"\x07\0\0"),
    "too large a block": ("frame", FRAME + (MAX_BLOCK + 1 << 3).to_bytes(3, "little")),
    "a window of 128 MiB": ("window", b"\x28\xb5\x2f\xfd\x04\x88" + GOOD[6:]),
    "a dictionary": ("frame", b"\x28\xb5\x2f\xfd\x05\x50\x01" + GOOD[6:]),
    "gzip": ("not_a_bundle", b"\x1f\x8b\x08"), "nothing": ("not_a_bundle", b""),
    "no more than magic": ("truncated", FRAME[:4]),
    "an old zstd": ("not_a_bundle", b"\x27\xb5\x2f\xfd" + GOOD[4:]),
}


@pytest.mark.parametrize(("rule", "data"), FRAMES.values(), ids=FRAMES.keys())
def test_a_file_is_one_frame_and_nothing_else(tmp_path: Path, rule: str, data: bytes) -> None:
    """Row 6: what other readers would skip, or read as another file, is not let through."""
    refused(tmp_path, data, rule)


def test_a_frame_that_declares_its_size_is_still_a_bundle(tmp_path: Path) -> None:
    """Not an attack: any zstd writer may pack a bundle, if only it adds a checksum."""
    (tmp_path / "x.repro").write_bytes(compressed(write_checksum=True, level=19))
    assert read_bundle(tmp_path / "x.repro", LIMITS).sealed.files == 0


def test_a_bundle_that_lies_about_itself_is_refused(tmp_path: Path) -> None:
    """Row 6: repro.json must tell the truth of report and payload, in its one spelling."""
    x = Entry(below("x"), Kind.FILE, 0o644, 0, 1)
    inside = [x._replace(path=b"x", digest=sha256(b"x").digest())]
    assert read_bundle(_write(tmp_path, true_bundle(inside, file(x.path, b"x"))), LIMITS).sealed.files == 1
    refused(tmp_path, true_bundle(inside, file(x.path, b"y")), "payload_mismatch")
    refused(tmp_path, true_bundle(inside, file(x.path, b"x", mode=0o4755)), "payload_mismatch")
    refused(tmp_path, true_bundle([], file(x.path, b"x")), "payload_mismatch")
    refused(tmp_path, bundle(), "payload_mismatch")
    document = describe_bundle(b"{}", NOBODYS).render()
    for was, now, rule in ((b'"bytes": 2', b'"bytes": 3', "report_mismatch"),
                           (b"bundle/1", b"bundle/2", "version"), (b'"schema"', b'"schemas"', "version"),
                           (b'"files": 2', b'"files": 2.0', "document"), (b'"files": 2', b'"files":  2', "document"),
                           (b'"files": 2', b'"files": -2', "document"), (b'"files"', b'"fil\xff"', "document"),
                           (b'"files": 2', b'"files": 2, "run": 1', "document"), (b"{", b"\xff{", "document"),
                           (b'"report.json"', b'"../report.json"', "document")):
        changed = document.replace(was, now, 1)
        assert changed != document
        refused(tmp_path, zstd(member(own_file(DOCUMENT, len(changed)), changed) + head()[1024:] + END), rule)


def _write(place: Path, data: bytes) -> Path:
    (place / "bug.repro").write_bytes(data)
    return place / "bug.repro"


def _replay(bug: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "runner", "replay", str(bug), "--yes", "--backend", "host", "--quiet",
                           *options], cwd=bug.parent, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_a_report_about_another_payload_runs_nothing(tmp_path: Path) -> None:
    """Row 6: a bundle that is right about what it holds, and holds a report about something else."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "fail.sh").write_text(f"touch {tmp_path}/ran\n")
    report = report_of(seal(tmp_path / "p", LIMITS))
    bug = _write(tmp_path, true_bundle([Entry(b"x", Kind.FILE, 0o644, 0, 1, sha256(b"x").digest())],
                                       file(below("x"), b"x"), report))
    done = _replay(bug)
    assert (done.returncode, done.stdout) == (2, "")
    assert "not the recorded payload" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bug.repro", "p"]


def test_a_hostile_bundle_runs_nothing(tmp_path: Path) -> None:
    """Row 5, 7: a replay refuses what unpacking refuses, before anything runs and without evidence."""
    (tmp_path / "p").mkdir()
    start = head(report_of(seal(tmp_path / "p", LIMITS)))
    for data, rule in ((FRAME + block(start + claimed(200 << 20)) + zeros(80 * 1024), "ratio"),
                       (zstd(start + link(below("ln"), b"/etc") + END), "absolute_symlink")):
        done = _replay(_write(tmp_path, data))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 2)
        assert f"rule {rule}" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bug.repro", "p"]


def test_escapes_in_a_bundle_reach_no_terminal(tmp_path: Path) -> None:
    """Row 9: names and report texts with escapes and newlines are shown, escaped, on their line."""
    root = tmp_path / "p"
    root.mkdir()
    (root / "\x1b[2J\nverifies     yes").write_text("x")
    sealed = seal(root, LIMITS)
    packed(root, tmp_path / "bug.repro")
    done = CliRunner().invoke(command, ["inspect", str(tmp_path / "bug.repro")])
    assert done.exit_code == 0
    refused_by_name = bundle(file(b"payload/\x1b[2J"), file(b"payload/\x1b[2J"))
    for words in (["inspect", str(tmp_path / "bug.repro")], ["inspect", "--json", str(tmp_path / "bug.repro")],
                  ["unpack", str(_write(root, refused_by_name)), "-o", str(tmp_path / "o")]):
        done = CliRunner().invoke(command, words)
        assert all(line.isprintable() for line in done.output.splitlines()), done.output
    assert sealed.files == 1


def test_a_setuid_program_stays_behind_a_closed_door(tmp_path: Path) -> None:
    """Row 8: its bits are part of what was recorded; the directory that is made for it lets nobody else in."""
    root = tmp_path / "p"
    root.mkdir()
    (root / "su").write_text("x")
    (root / "su").chmod(0o4755)
    packed(root, tmp_path / "bug.repro")
    previous = os.umask(0)
    try:
        done = CliRunner().invoke(command, ["unpack", str(tmp_path / "bug.repro"), "-o", str(tmp_path / "out")])
    finally:
        os.umask(previous)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "payload" / "su").stat().st_mode & 0o7777 == 0o4755
    assert (tmp_path / "out").stat().st_mode & 0o7777 == 0o700
