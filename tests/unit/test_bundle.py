"""Bundles: packed the same each time, read by others' tools, replayed from the file, unpacked whole or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from trees import LIMITS, sample

from runner.bundle.load import read_report_or_bundle
from runner.bundle.pack import pack
from runner.bundle.proof import inspect_bundle, match_payload
from runner.bundle.read import read_bundle, read_head
from runner.bundle.unpack import unpack_bundle
from runner.errors import BundleRefused, PayloadChanged, PayloadMismatch, ReportError, UsageError
from runner.payload.seal import check_unchanged, seal
from runner.payload.treehash import sealed_tree_hashes, tree_hashes
from tests.bundles import packed, report_of
from tests.engine.repomin_samples import copy_sample

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path):
    return sample(tmp_path / "payload")


@pytest.fixture
def bug(tmp_path, root):
    packed(root, tmp_path / "bug.repro")
    return tmp_path / "bug.repro"


def test_same_input_same_bytes(tmp_path, root, bug):
    before = bug.read_bytes()
    os.utime(root, (1, 1))  # the root itself is no entry
    packed(root, tmp_path / "again.repro")
    assert (tmp_path / "again.repro").read_bytes() == before
    sealed = read_bundle(bug, LIMITS).sealed
    pack(report_of(sealed), sealed, tmp_path / "from-a-bundle.repro", report_path="r")
    assert (tmp_path / "from-a-bundle.repro").read_bytes() == before


def test_a_bundle_seals_as_its_directory_does(root, bug):
    sealed, bundle = seal(root, LIMITS), read_bundle(bug, LIMITS)
    assert bundle.sealed.manifest == sealed.manifest
    assert bundle.sealed.fingerprint == sealed.fingerprint
    assert b"".join(bundle.sealed.stream()) == b"".join(sealed.stream())
    assert bundle.head.report == report_of(sealed)
    assert bundle.head.file_bytes == bug.stat().st_size
    assert match_payload(inspect_bundle(str(bug), LIMITS).report.payload, bundle.sealed).mode == "exact"


def test_repomins_content_digest_comes_from_the_stream(root, bug):
    hashes = sealed_tree_hashes(read_bundle(bug, LIMITS).sealed)
    assert (hashes.exact, hashes.content) == (None, tree_hashes(root).content)
    assert sealed_tree_hashes(seal(root, LIMITS)) == tree_hashes(root)


def test_stock_tar_unpacks_it(tmp_path, root, bug):
    (tmp_path / "there").mkdir()
    subprocess.run(["tar", "--zstd", "--delay-directory-restore", "-xpf", bug, "-C", tmp_path / "there"], check=True,
                   capture_output=True)
    assert sorted(os.listdir(tmp_path / "there")) == ["payload", "report.json", "repro.json"]
    assert seal(tmp_path / "there" / "payload", LIMITS).manifest == seal(root, LIMITS).manifest
    assert json.loads((tmp_path / "there" / "repro.json").read_bytes())["payload"]["entries"] == 8


def test_unpacked_it_is_the_same_again(tmp_path, root, bug):
    unpack_bundle(bug, LIMITS, tmp_path / "out")
    assert seal(tmp_path / "out" / "payload", LIMITS).manifest == seal(root, LIMITS).manifest
    assert (tmp_path / "out" / "report.json").read_bytes() == report_of(seal(root, LIMITS))
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bug.repro", "out", "payload"]


def test_an_empty_payload_has_its_directory(tmp_path):
    (tmp_path / "empty").mkdir()
    packed(tmp_path / "empty", tmp_path / "e.repro")
    unpack_bundle(tmp_path / "e.repro", LIMITS, tmp_path / "out")
    assert os.listdir(tmp_path / "out" / "payload") == []


def test_unpacking_takes_an_empty_directory_and_nothing_else(tmp_path, bug):
    (tmp_path / "empty").mkdir()
    unpack_bundle(bug, LIMITS, tmp_path / "empty")
    assert sorted(os.listdir(tmp_path / "empty")) == ["payload", "report.json"]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    for taken in (tmp_path / "empty", bug, tmp_path / "link"):
        with pytest.raises(UsageError, match="not an empty directory"):
            unpack_bundle(bug, LIMITS, taken)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_nothing_is_left_when_unpacking_fails(tmp_path, bug):
    bug.write_bytes(bug.read_bytes()[:-1] + b"x")
    with pytest.raises(BundleRefused, match="corrupt"):
        unpack_bundle(bug, LIMITS, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bug.repro", "payload"]


def test_a_bundle_that_changes_is_noticed(tmp_path, root, bug):
    sealed = read_bundle(bug, LIMITS).sealed
    check_unchanged(sealed)
    good = bug.read_bytes()
    (root / "a.txt").write_bytes(b"HI\n")
    packed(root, bug)
    for look in (lambda: check_unchanged(sealed), lambda: b"".join(sealed.stream())):
        with pytest.raises(PayloadChanged, match="changed since it was read"):
            look()
    bug.write_bytes(good)
    check_unchanged(sealed)
    bug.unlink()
    with pytest.raises(PayloadChanged, match="cannot be read"):
        b"".join(sealed.stream())
    with pytest.raises(PayloadChanged, match="cannot be read"):
        check_unchanged(sealed)


def test_the_file_that_changed_is_named(root, bug):
    """Same size, same time: only its digest tells."""
    sealed = read_bundle(bug, LIMITS).sealed
    when = (root / "a.txt").stat()
    (root / "a.txt").write_bytes(b"HI\n")
    os.utime(root / "a.txt", ns=(when.st_atime_ns, when.st_mtime_ns))
    packed(root, bug)
    with pytest.raises(PayloadChanged, match=r"changed since it was read \(at a\.txt\)"):
        b"".join(sealed.stream())


def test_a_stream_does_not_end_before_the_bundle_is_proved(root, bug):
    sealed = read_bundle(bug, LIMITS).sealed
    data = bug.read_bytes()
    bug.write_bytes(data + b"x")
    got = []
    with pytest.raises(PayloadChanged):
        got.extend(sealed.stream())
    assert got
    assert not b"".join(got).endswith(bytes(1024))


def test_a_report_about_another_payload_is_not_packed(tmp_path, root):
    sealed = seal(root, LIMITS)
    report = report_of(sealed)
    (root / "a.txt").write_bytes(b"HI\n")
    with pytest.raises(PayloadMismatch):
        pack(report, seal(root, LIMITS), tmp_path / "x.repro", report_path="r")
    with pytest.raises(ReportError, match="no report of a known format"):
        pack(b"{}", sealed, tmp_path / "x.repro", report_path="r")
    assert sorted(os.listdir(tmp_path)) == ["payload"]


def test_a_payload_that_changes_while_it_is_packed_leaves_nothing(tmp_path, root):
    sealed = seal(root, LIMITS)
    (root / "d" / "deep" / "big").write_bytes(b"\0" * 768_000)
    with pytest.raises(PayloadChanged):
        pack(report_of(sealed), sealed, tmp_path / "x.repro", report_path="r")
    assert sorted(os.listdir(tmp_path)) == ["payload"]


def test_what_expands_too_much_is_not_packed(tmp_path):
    (tmp_path / "p").mkdir()
    with open(tmp_path / "p" / "zeros", "wb") as file:
        file.truncate(80 << 20)
    with pytest.raises(BundleRefused, match="expands too much") as refusal:
        packed(tmp_path / "p", tmp_path / "x.repro")
    assert refusal.value.rule == "ratio"
    assert sorted(os.listdir(tmp_path)) == ["p"]


def test_a_repomin_report_is_packed_by_its_content(tmp_path):
    sample = copy_sample("a", tmp_path)
    sealed = seal(sample.payload, LIMITS)
    pack(sample.report.read_bytes(), sealed, tmp_path / "a.repro", report_path="r")
    seen = inspect_bundle(str(tmp_path / "a.repro"), LIMITS)
    assert (seen.problem, seen.match.mode, seen.match.actual) == (None, "content", None)
    assert seen.match.expected_content == seen.match.actual_content


def test_a_report_with_an_exact_digest_only_cannot_be_packed(tmp_path):
    sample = copy_sample("a", tmp_path)
    sample.edit(lambda report: [report["output"].pop(f"tree_content_{name}")
                                for name in ("sha256", "fingerprint_policy")])
    sealed = seal(sample.payload, LIMITS)
    with pytest.raises(BundleRefused, match="metadata which a bundle does not carry") as refusal:
        pack(sample.report.read_bytes(), sealed, tmp_path / "a.repro", report_path="r.json")
    assert refusal.value.rule == "exact_digest_only"
    assert refusal.value.message.startswith("r.json: ")
    assert not (tmp_path / "a.repro").exists()


def test_the_door_knows_a_bundle_by_its_first_bytes(tmp_path, bug):
    renamed = bug.rename(tmp_path / "report.json")
    found = read_report_or_bundle(str(renamed))
    assert found.bundle == read_head(renamed)
    assert found.raw == found.bundle.report
    plain = tmp_path / "plain.repro"
    plain.write_bytes(found.raw)
    assert (read_report_or_bundle(plain).raw, read_report_or_bundle(plain).bundle) == (found.raw, None)


def test_a_link_or_a_fifo_is_no_bundle(tmp_path, bug):
    (tmp_path / "ln").symlink_to(bug)
    os.mkfifo(tmp_path / "fifo")
    for name in ("ln", "fifo", "missing"):
        for read in (read_report_or_bundle, read_head, lambda path: read_bundle(path, LIMITS)):
            with pytest.raises(ReportError):
                read(tmp_path / name)


def test_inspecting_tells_what_is_wrong_with_a_payload(tmp_path, bug):
    seen = inspect_bundle(str(bug), LIMITS._replace(files=3))
    assert (seen.bundle, seen.match, seen.problem.rule) == (None, None, "too_many_files")
    assert seen.report.payload.files == 5


PEAK = """
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from tests.bundles import packed
from runner.bundle.read import read_bundle
from runner.payload.seal import DEFAULT_LIMITS

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])

with TemporaryDirectory() as place:
    root = Path(place) / "p"
    root.mkdir()
    with open(root / "big", "wb") as file:
        for number in range(48):
            file.write(bytes([number]) * (1 << 20))
    before = peak()
    packed(root, Path(place) / "x.repro")
    bundle = read_bundle(Path(place) / "x.repro", DEFAULT_LIMITS)
    assert sum(map(len, bundle.sealed.stream())) > 48 << 20
    print(peak() - before)
"""


def test_packing_and_reading_need_little_memory():
    """Peak memory of a process that packs and reads 48 MiB in one file: nothing near that size is ever held."""
    done = subprocess.run([sys.executable, "-c", PEAK], cwd=REPO, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16 << 10
