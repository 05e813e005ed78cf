"""For any output and any environment, not only for those we thought of."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from runner.sandbox.trailer import TRAILER_BYTES, release_message, split_trailer

nonces = st.binary(min_size=32, max_size=32)
names = st.text(st.characters(exclude_characters="=\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
values = st.binary(max_size=50).map(lambda raw: raw.replace(b"\0", b"").decode("utf-8", "surrogateescape"))
numbers = st.integers(0, 10**20 - 1)
endings = st.one_of(st.tuples(st.just("E"), st.integers(0, 255)), st.tuples(st.just("S"), st.integers(1, 64)),
                    st.tuples(st.just("N"), st.integers(1, 4095)))


def written(nonce: bytes, ending: tuple[str, int], figures: list[int]) -> bytes:
    rest = " ".join(f"{figure:020}" for figure in figures)
    return f"\0RUNNER-TRAILER-1 {nonce.hex()} {ending[0]} {ending[1]:010} {rest}\n".encode()


figure_lists = st.lists(numbers, min_size=5, max_size=5)


@given(output=st.binary(max_size=400), nonce=nonces, ending=endings, figures=figure_lists)
def test_any_output_survives_and_any_ending_is_read(output: bytes, nonce: bytes, ending: tuple[str, int],
                                                    figures: list[int]) -> None:
    rest, trailer = split_trailer(output + written(nonce, ending, figures), nonce)
    assert trailer is not None
    assert rest == output
    assert (trailer.kind[0].upper(), trailer.code) == ending
    assert [trailer.user_us, trailer.system_us, trailer.max_rss] == figures[:3]


@given(nonce=nonces, guess=nonces, ending=endings, figures=figure_lists)
def test_no_other_nonce_is_taken(nonce: bytes, guess: bytes, ending: tuple[str, int], figures: list[int]) -> None:
    assume(nonce != guess)
    tail = written(guess, ending, figures)
    assert split_trailer(tail, nonce) == (tail, None)


@given(tail=st.binary(max_size=2 * TRAILER_BYTES), nonce=nonces)
def test_without_a_trailer_nothing_is_taken(tail: bytes, nonce: bytes) -> None:
    assert split_trailer(tail, nonce) == (tail, None)


@given(nonce=nonces, ending=endings, figures=figure_lists, at=st.integers(0, TRAILER_BYTES - 1),
       other=st.integers(1, 255))
def test_a_damaged_trailer_is_taken_whole_or_not_at_all(
        nonce: bytes, ending: tuple[str, int], figures: list[int], at: int, other: int) -> None:
    damaged = bytearray(written(nonce, ending, figures))
    damaged[at] ^= other
    rest, trailer = split_trailer(bytes(damaged), nonce)
    assert (rest == b"") == (trailer is not None)


@given(nonce=nonces, env=st.dictionaries(names, values, max_size=8))
def test_a_release_can_be_read_back(nonce: bytes, env: dict[str, str]) -> None:
    message = release_message(nonce, env.items())
    assert (message[:8], message[8:40]) == (b"RUNINIT1", nonce)
    block = message[44:]
    assert int.from_bytes(message[40:44], "big") == len(block)
    entries = block.split(b"\0")
    assert entries.pop() == b""
    read = dict(entry.decode("utf-8", "surrogateescape").split("=", 1) for entry in entries)
    assert read == env
