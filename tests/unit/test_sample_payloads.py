"""ReproMin's samples with their payloads: the digests of the reports are those of the trees."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from repomin_reports import sample_path

from runner.errors import PayloadMismatch
from runner.payload.seal import seal
from runner.payload.tree import SealLimits
from runner.payload.treehash import tree_hashes
from runner.sources.fingerprints import FingerprintMatch, check_payload
from runner.sources.load import load_case

MOMENT = 1_704_067_200 * 10**9
LIMITS = SealLimits(files=100, bytes=1 << 20, depth=10, name_bytes=255, path_bytes=4096)


def payload_of(letter: str, tmp_path: Path) -> Path:
    """A copy of a sample's payload with the modes and times that it was recorded with."""
    report = sample_path(letter).parent
    copy = tmp_path / report.name.removesuffix(".repomin")
    shutil.copytree(report.with_suffix(""), copy, symlinks=True)
    for folder, _, files in os.walk(copy, topdown=False):
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o644)
            os.utime(path, ns=(MOMENT, MOMENT), follow_symlinks=False)
        Path(folder).chmod(0o755)
        os.utime(folder, ns=(MOMENT, MOMENT))
    return copy


def compare(letter: str, payload: Path) -> FingerprintMatch:
    sealed = seal(str(payload), LIMITS)
    return check_payload(load_case(sample_path(letter)), sealed.fingerprint, tree_hashes(str(payload)),
                         sealed.files, sealed.bytes)


@pytest.mark.parametrize("letter", ["a", "b", "d"])
def test_a_restored_payload_matches_exactly(letter: str, tmp_path: Path) -> None:
    match = compare(letter, payload_of(letter, tmp_path))
    assert (match.mode, match.verified, match.metadata_drift_possible) == ("exact", True, False)
    assert match.actual == match.expected


@pytest.mark.parametrize("letter", ["a", "b", "d"])
def test_a_touched_payload_matches_by_content(letter: str, tmp_path: Path) -> None:
    payload = payload_of(letter, tmp_path)
    os.utime(payload, ns=(MOMENT, MOMENT + 1))
    match = compare(letter, payload)
    assert (match.mode, match.verified, match.metadata_drift_possible) == ("content", True, True)


def test_a_legacy_payload_is_only_counted(tmp_path: Path) -> None:
    payload = payload_of("c", tmp_path)
    assert compare("c", payload).mode == "unavailable"
    (payload / "more").touch()
    with pytest.raises(PayloadMismatch, match="it has 3 files"):
        compare("c", payload)


def test_one_edited_byte_is_refused(tmp_path: Path) -> None:
    payload = payload_of("a", tmp_path)
    amounts = payload / "data" / "amounts.txt"
    amounts.write_bytes(amounts.read_bytes().replace(b"21", b"22", 1))
    with pytest.raises(PayloadMismatch, match="content digest"):
        compare("a", payload)
