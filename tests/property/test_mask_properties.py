"""Masks: same length, nothing of a secret left, digests untouched, and work that grows with the data only."""

from __future__ import annotations

import itertools
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.mask import Masker
from runner.scrub import credentials
from runner.scrub.credentials import KINDS, Kind

ALNUM = string.ascii_letters + string.digits
SECRETS = st.one_of(
    st.text(ALNUM, min_size=36, max_size=40).map(lambda text: f"ghp_{text}"),
    st.text(ALNUM + "_-", min_size=20, max_size=30).map(lambda text: f"glpat-{text}"),
    st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16).map(lambda text: f"AKIA{text}"))
PIECES = st.sampled_from([word for kind in KINDS for word in kind.words] + [
    b"Authorization: ", b"Basic ", b"BEARER ", b"-----BEGIN ", b"RSA PRIVATE KEY-----", b"-----END ", b"-----", b".",
    b":", b"@", b"/", b"a", b"A" * 16, b"a1" * 20, b" ", b"\n", b"=", b'"', b"*", b"\xff", b"eyJhbGciOi.eyJ",
    b"secret-value"])
HOSTILE = st.lists(PIECES, max_size=40).map(b"".join)
MASKER = Masker([("TOKEN", "secret-value"), ("KEY", "aaaa")])


@given(HOSTILE)
def test_length_and_all_that_is_not_covered_stay(raw: bytes) -> None:
    masked, count = MASKER.data(raw)
    assert len(masked) == len(raw)
    assert sum(a != b for a, b in zip(raw, masked, strict=True)) == count
    assert all(a == b or b == ord("*") for a, b in zip(raw, masked, strict=True))
    assert b"secret-value" not in masked
    assert b"aaaa" not in masked


@given(HOSTILE)
def test_masking_again_changes_nothing(raw: bytes) -> None:
    masked, _ = MASKER.data(raw)
    assert MASKER.data(masked) == (masked, 0)


@given(st.binary(max_size=60), SECRETS, st.binary(max_size=60))
def test_nothing_of_a_secret_is_left_between_any_bytes(before: bytes, secret: str, after: bytes) -> None:
    masked, _ = Masker().data(before + b" " + secret.encode() + b" " + after)
    assert secret[8:].encode() not in masked


@given(st.binary(max_size=200), st.integers(0, 200))
def test_bytes_of_no_credential_stay(raw: bytes, at: int) -> None:
    value = b"hunter22"
    masked, count = Masker([("TOKEN", value.decode())]).data(raw[:at] + value + raw[at:])
    assert (masked, count >= 8) == (raw[:at] + b"*" * 8 + raw[at:], True) or count > 8


@given(st.text("0123456789abcdef", min_size=12, max_size=128), st.sampled_from(["{}", "sha256:{}", "x {} y", "\n{}\n"]))
def test_a_digest_is_never_masked_by_accident(digest: str, around: str) -> None:
    text = around.format(digest)
    assert Masker().data(text.encode()) == (text.encode(), 0)
    assert Masker([("KEY", "abcd"), ("TOKEN", "1234")]).document({"sha256": digest}) == {"sha256": digest}


class _Counted(bytes):
    """Bytes whose searches are counted by how far they go."""

    looked = 0

    def find(self, word, start=0, *end):  # type: ignore[no-untyped-def,override]
        found = super().find(word, start, *end)
        _Counted.looked += (found if found >= 0 else len(self)) - start + len(word)
        return found

    def rfind(self, word, start=0, end=0):  # type: ignore[no-untyped-def,override]
        _Counted.looked += end - start
        return super().rfind(word, start, end)


def test_searching_for_a_value_grows_with_the_data() -> None:
    """Counted, not timed: bytes that searches pass over, for the worst value there is."""
    looked = []
    for size in (1 << 12, 1 << 15):
        _Counted.looked = 0
        Masker([("TOKEN", "a" * 64)]).data(_Counted(b"a" * size))
        looked.append(_Counted.looked)
    assert looked[1] <= 9 * looked[0]


ENDLESS = re.compile(rb"\[(?:\\.|[^\]])+\](?:\*|\+|\{\d+,\})")
"""A class of bytes that a pattern repeats without a bound."""


def steps(pattern: re.Pattern[bytes], data: bytes) -> int:
    """How many bytes a search looks at in the first endless repeat of a pattern: from every place where what stands
    before the repeat fits, as far as the repeat goes, unless a match took that place already.
    """
    endless = ENDLESS.search(pattern.pattern)
    assert endless is not None
    before = re.compile(re.sub(rb"(?:\((?:\?[:=])?)+$", b"", pattern.pattern[:endless.start()]))
    run = re.compile(re.sub(rb"\{\d+,\}$|\+$", b"*", endless[0]))
    work = at = 0
    while begun := before.search(data, at):
        far = run.match(data, begun.end())
        assert far is not None
        work += far.end() - begun.end() + 1
        whole = pattern.match(data, begun.start())
        at = whole.end() if whole else begun.start() + 1
    return work


FILLERS = (b"", b"a", b"1", b"-", b".", b":", b"=", b"/", b"@", b" ", b"\n", b"A" * 20, b".eyJ", b": ", b"=basic ")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if ENDLESS.search(kind.pattern.pattern)],
                         ids=lambda kind: kind.words[0].decode())
def test_a_search_looks_at_no_byte_more_often_than_a_constant(kind: Kind) -> None:
    """Counted, not timed. What fits before a repeat may not begin again and again within the repeat."""
    for pattern in filter(None, (kind.pattern, kind.cut)):
        for word, filler in itertools.product(kind.words, FILLERS):
            data = (word + filler) * 400
            assert steps(pattern, data) <= 45 * len(data), (pattern, word, filler)


def test_the_count_finds_a_search_that_is_not_linear() -> None:
    data = b"eyJ" * 400
    assert steps(re.compile(rb"eyJ([\w-]{7,}\.x)"), data) > 45 * len(data)


def test_what_stands_in_a_private_key_cannot_begin_one() -> None:
    body = credentials._PRIVATE_KEY.fullmatch(b"-----BEGIN PRIVATE KEY-----" + b"-" * 4 + b"A")
    assert body is not None
    assert credentials._PRIVATE_KEY.fullmatch(b"-----BEGIN PRIVATE KEY-----A-----BEGIN") is None
