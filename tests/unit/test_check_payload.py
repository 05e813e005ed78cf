"""exact, content, unavailable or refused: every way a payload can compare with its report."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest
from repomin_reports import sample_path

from runner.case import Case, RecordedPayload
from runner.errors import PayloadMismatch
from runner.sources.fingerprints import FingerprintMatch, check_payload
from runner.sources.load import load_case

CASE = load_case(sample_path("c"))


class Pair(NamedTuple):
    exact: str
    content: str


NATIVE, TREE, OTHER = Pair("n" * 64, "m" * 64), Pair("e" * 64, "c" * 64), "0" * 64


def case_with(exact: str | None, content: str | None, scheme: str = "tree-sha256") -> Case:
    return replace(CASE, payload=RecordedPayload(2, 102, scheme, exact, content))  # type: ignore[arg-type]


@pytest.mark.parametrize(("exact", "content", "expected"), [
    (TREE.exact, TREE.content, FingerprintMatch("exact", TREE.exact, TREE.exact)),
    (TREE.exact, None, FingerprintMatch("exact", TREE.exact, TREE.exact)),
    (TREE.exact, OTHER, FingerprintMatch("exact", TREE.exact, TREE.exact)),
    (OTHER, TREE.content, FingerprintMatch("content", OTHER, TREE.exact, TREE.content, TREE.content)),
    (None, TREE.content, FingerprintMatch("content", None, TREE.exact, TREE.content, TREE.content)),
    (None, None, FingerprintMatch("unavailable", None, TREE.exact)),
])
def test_modes(exact: str | None, content: str | None, expected: FingerprintMatch) -> None:
    match = check_payload(case_with(exact, content), NATIVE, TREE, 2, 102)
    assert match == expected
    assert match.metadata_drift_possible is (expected.mode == "content")
    assert match.verified is (expected.mode != "unavailable")


@pytest.mark.parametrize(("exact", "content", "which"), [
    (OTHER, OTHER, "content"), (None, OTHER, "content"), (OTHER, None, "exact"),
])
def test_a_difference_is_refused_naming_the_digest(exact: str | None, content: str | None, which: str) -> None:
    with pytest.raises(PayloadMismatch, match=f"its {which} digest is {getattr(TREE, which)}.*{OTHER}"):
        check_payload(case_with(exact, content), NATIVE, TREE, 2, 102)


def test_a_native_report_is_compared_with_native_digests() -> None:
    case = case_with(NATIVE.exact, NATIVE.content, "manifest-sha256-v1")
    assert check_payload(case, NATIVE, None, 2, 102).mode == "exact"
    with pytest.raises(PayloadMismatch):
        check_payload(case_with(TREE.exact, TREE.content, "manifest-sha256-v1"), NATIVE, TREE, 2, 102)


@pytest.mark.parametrize(("files", "size"), [(3, 102), (2, 103), (0, 0)])
@pytest.mark.parametrize("digests", [(None, None), (TREE.exact, TREE.content)])
def test_counts_are_compared_in_every_mode(files: int, size: int, digests: tuple[str | None, str | None]) -> None:
    with pytest.raises(PayloadMismatch, match=f"it has {files} files and {size} bytes, the report has 2 files"):
        check_payload(case_with(*digests), NATIVE, TREE, files, size)


def test_a_digest_that_differs_also_tells_of_counts_that_do() -> None:
    with pytest.raises(PayloadMismatch, match=r"content digest is .*; it has 3 files"):
        check_payload(case_with(OTHER, OTHER), NATIVE, TREE, 3, 102)


def test_a_legacy_report_needs_no_tree_hashes_and_others_do() -> None:
    assert check_payload(CASE, NATIVE, None, 2, 102) == FingerprintMatch("unavailable", None, None)
    with pytest.raises(ValueError, match="tree hashes"):
        check_payload(case_with(OTHER, None), NATIVE, None, 2, 102)
