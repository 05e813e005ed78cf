"""The manifest format as documented, and the difference of two."""

import hashlib
import re

import pytest
from trees import REPO

from runner.errors import ReportError
from runner.payload.escape import escape, unescape
from runner.payload.fingerprint import Change, Manifest, diff
from runner.payload.tree import Entry, Kind

T = 1704067200 * 10**9
HI = hashlib.sha256(b"hi\n").digest()
ONE = hashlib.sha256(b"1").digest()
NONE = hashlib.sha256(b"").digest()


def file(path, digest=HI, size=3, mode=0o644, mtime=T):
    return Entry(path, Kind.FILE, mode, mtime, size, digest)


def folder(path, mode=0o755):
    return Entry(path, Kind.DIR, mode, T)


def link(path, target):
    return Entry(path, Kind.LINK, 0o777, T, len(target), None, target)


EXAMPLE = Manifest([link(b"ln", b"d/x y"), file(b"d/x y", NONE, 0, 0o600), folder(b"d"), file(b"a.txt"),
                    file(b"d-e", ONE, 1, 0o755, T + 500_000_000)])


def test_the_documented_example_is_true():
    text = (REPO / "docs" / "fingerprints.md").read_text(encoding="utf-8")
    content, exact = re.findall(r"```manifest\n(.*?)```", text, flags=re.DOTALL)
    digests = re.findall(r"fingerprint: `([0-9a-f]{64})`", text)
    assert EXAMPLE.render(exact=False).decode() == content
    assert EXAMPLE.render(exact=True).decode() == exact
    assert [hashlib.sha256(part.encode()).hexdigest() for part in (content, exact)] == digests
    assert EXAMPLE.fingerprint()[:2] == (digests[1], digests[0])
    assert EXAMPLE.fingerprint()[2:] == (5, 3, 4)


def test_an_empty_tree_is_its_header():
    assert Manifest([]).render(exact=True) == b"manifest-sha256-v1 exact\n"
    assert Manifest.parse(b"manifest-sha256-v1 exact\n") == Manifest([])


@pytest.mark.parametrize(("raw", "escaped"), [
    (b"plain-._~/", b"plain-._~/"), (b"a b", b"a%20b"), (b"100%", b"100%25"), (b"\n\x1b\x7f", b"%0A%1B%7F"),
    ("é".encode(), b"%C3%A9"), (b"\xff", b"%FF"), (b"", b"")])
def test_escaping(raw, escaped):
    assert escape(raw) == escaped
    assert unescape(escaped) == raw


GOOD = EXAMPLE.render(exact=True)


@pytest.mark.parametrize("data", [
    b"", b"manifest-sha256-v1 content\n", GOOD[:-1], GOOD + b"\n", GOOD.replace(b" 0644 ", b" 644 "),
    GOOD.replace(b"%20", b" "), GOOD.replace(b"%20", b"%2g"), GOOD.replace(b"a.txt", b"%61.txt"),
    GOOD.replace(b"\nd d ", b"\nz d "), GOOD.replace(b"98ea", b"98EA"), GOOD.replace(b" 3 ", b" +3 "),
    GOOD.replace(b"0777", b"0o777"), GOOD.replace(b" 0 -", b" 0 x"), b"\n".join([GOOD[:25], *GOOD.split(b"\n")[:0:-1]]),
    GOOD + b"f zz 0 00 0644 0\n", GOOD + b"d zz 1 - 0755 0\n", GOOD + b"l zz 2 x 0777 0\n",
    GOOD + b"d z/../z 0 - 0755 0\n", GOOD + b"d z//z 0 - 0755 0\n", GOOD + GOOD.splitlines(keepends=True)[-1],
], ids=range(20))
def test_only_canonical_bytes_are_parsed(data):
    with pytest.raises(ReportError):
        Manifest.parse(data)


def test_parse_is_the_inverse_of_render():
    assert Manifest.parse(GOOD) == EXAMPLE
    assert hash(Manifest.parse(GOOD)) == hash(EXAMPLE)


def test_a_file_that_was_not_read_has_no_fingerprint():
    unread = Manifest([file(b"huge", None, 1 << 40)])
    assert not unread.complete
    with pytest.raises(ValueError, match="huge"):
        unread.fingerprint()


def test_differences_are_told_by_kind_and_in_order():
    before = Manifest([file(b"same"), file(b"gone"), file(b"new size"), file(b"other"), file(b"x"), folder(b"d"),
                       link(b"ln", b"a")])
    after = Manifest([file(b"same", mtime=T + 1), file(b"new size", ONE, 1), file(b"other", ONE), folder(b"d", 0o700),
                      file(b"x", ONE, 3, 0o755), link(b"ln", b"b\n"), Entry(b"p", Kind.FIFO, 0o644, T), folder(b"+")])
    assert diff(before, after) == (
        Change("added", b"+", "directory"),
        Change("mode", b"d", "0755 -> 0700"),
        Change("removed", b"gone", "file, 3 bytes"),
        Change("modified", b"ln", "link to a -> link to b\\n"),
        Change("modified", b"new size", "file, 3 bytes -> file, 1 bytes"),
        Change("modified", b"other", "file, 3 bytes, other content"),
        Change("added", b"p", "fifo"),
        Change("modified", b"x", "file, 3 bytes, other content"),
        Change("mode", b"x", "0644 -> 0755"),
    )
    assert diff(before, before) == ()


def test_a_change_of_kind_is_one_change():
    assert diff(Manifest([file(b"a")]), Manifest([link(b"a", b"/etc")])) == (
        Change("modified", b"a", "file, 3 bytes -> link to /etc"),)


def test_what_could_not_be_read_counts_as_modified():
    before, after = Manifest([file(b"a")]), Manifest([file(b"a", None)])
    assert diff(before, after) == (Change("modified", b"a", "file, 3 bytes -> file, 3 bytes, not read"),)
