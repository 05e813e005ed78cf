"""Any payload survives a bundle; no single changed byte goes unnoticed; no bytes at all do more than be refused."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_payload_properties import LIMITS, TREES, build, place

from runner.bundle.document import describe_bundle, parse_document
from runner.bundle.read import read_bundle
from runner.bundle.unpack import unpack_bundle
from runner.errors import BundleRefused
from runner.payload.fingerprint import Fingerprint
from runner.payload.seal import seal
from tests.bundles import END, bundle, head, packed, zstd

DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)
COUNTS = st.integers(0, (1 << 63) - 1)


@given(TREES)
@settings(max_examples=40)
def test_any_payload_survives_a_bundle(tree):
    with place(tree) as (root, _), place() as (out, _):
        sealed = packed(root, out / "x.repro")
        read = read_bundle(out / "x.repro", LIMITS)
        assert read.sealed.manifest == sealed.manifest
        assert b"".join(read.sealed.stream()) == b"".join(sealed.stream())
        unpack_bundle(out / "x.repro", LIMITS, out / "unpacked")
        assert seal(out / "unpacked" / "payload", LIMITS).manifest == sealed.manifest


@given(TREES)
@settings(max_examples=20)
def test_a_payload_built_twice_gives_the_same_bytes(tree):
    with place(tree) as (one, _), place(tree) as (two, _), place() as (out, _):
        packed(one, out / "1.repro")
        packed(two, out / "2.repro")
        assert (out / "1.repro").read_bytes() == (out / "2.repro").read_bytes()


TREE = {b"a.txt": ("file", b"hi\n" * 50, 0o644, 0), b"d": {b"x": ("file", bytes(range(256)) * 2, 0o755, 10**9)},
        b"ln": ("link", b"d/x", 0, 5)}


def read_bytes(data):
    with TemporaryDirectory() as name:
        path = Path(name) / "x.repro"
        path.write_bytes(data)
        return read_bundle(path, LIMITS)


def good_bundle():
    with TemporaryDirectory() as name:
        root = Path(name) / "p"
        root.mkdir()
        build(TREE, os.fsencode(root))
        packed(root, Path(name) / "x.repro")
        return (Path(name) / "x.repro").read_bytes()


GOOD = good_bundle()
KNOWN = read_bytes(GOOD)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
@settings(max_examples=600)
def test_one_changed_byte_is_refused_or_changes_nothing(where, flip):
    data = bytearray(GOOD)
    data[where] ^= flip
    try:
        read = read_bytes(bytes(data))
    except BundleRefused:
        return
    assert (read.sealed.manifest, read.head.report) == (KNOWN.sealed.manifest, KNOWN.head.report)


@given(st.integers(0, len(GOOD) - 1))
def test_one_that_ends_early_is_refused(length):
    with pytest.raises(BundleRefused) as refusal:
        read_bytes(GOOD[:length])
    assert refusal.value.rule in ("truncated", "not_a_bundle")


@given(st.binary(min_size=1, max_size=40))
def test_one_that_goes_on_is_refused(more):
    with pytest.raises(BundleRefused) as refusal:
        read_bytes(GOOD + more)
    assert refusal.value.rule == "trailing_bytes"


@given(st.one_of(st.binary(max_size=400), st.binary(max_size=2000).map(lambda raw: b"\x28\xb5\x2f\xfd" + raw),
                 st.binary(max_size=2000).map(zstd), st.binary(max_size=2000).map(bundle),
                 st.binary(max_size=2000).map(lambda raw: zstd(head(raw or b"{}") + END + raw))))
@settings(max_examples=300)
def test_any_bytes_are_only_ever_refused(data):
    with pytest.raises(BundleRefused) as refusal:
        read_bytes(data)
    assert refusal.value.message.isprintable()


@given(st.binary(max_size=300), DIGESTS, DIGESTS, COUNTS, COUNTS, COUNTS)
def test_a_document_is_read_back(report, exact, content, entries, files, size):
    document = describe_bundle(report or b"{}", Fingerprint(exact, content, entries, files, size))
    assert parse_document(document.render()) == document


@given(st.binary(max_size=300))
def test_a_document_parser_only_ever_refuses(raw):
    try:
        document = parse_document(raw)
    except BundleRefused:
        return
    assert document.render() == raw
