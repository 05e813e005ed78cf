from __future__ import annotations

import tracemalloc
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.sandbox.output import Capture, OutputPair, nothing_held

CHUNKS = st.lists(st.binary(max_size=40), max_size=20)


def hexdigest(data: bytes) -> str:
    return sha256(data).hexdigest()


@given(chunks=CHUNKS, keep=st.integers(0, 64))
def test_a_capture_counts_and_hashes_everything_and_keeps_both_ends(chunks: list[bytes], keep: int) -> None:
    capture = Capture(keep)
    for chunk in chunks:
        capture.feed(chunk)
    everything = b"".join(chunks)
    stream = capture.stream()
    assert (stream.bytes, stream.sha256) == (len(everything), hexdigest(everything))
    assert len(stream.kept) == min(keep, len(everything))
    assert everything.startswith(stream.head)
    assert everything.endswith(stream.tail)
    assert stream.truncated == (len(everything) > keep)
    if not stream.truncated:
        assert stream.kept == everything


def test_the_buffer_may_be_reused_after_feeding() -> None:
    buffer = bytearray(b"first")
    capture = Capture(100)
    capture.feed(memoryview(buffer)[:3])
    buffer[:] = b"XXXXX"
    assert capture.stream().kept == b"fir"


def test_a_negative_keep_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Capture(-1)


@given(chunks=CHUNKS, hold_back=st.integers(0, 30), keep=st.integers(0, 100))
def test_the_held_back_end_of_stderr_is_exactly_its_last_bytes(chunks: list[bytes], hold_back: int,
                                                               keep: int) -> None:
    pair = OutputPair(1000, 1000, keep, hold_back)
    for chunk in chunks:
        pair.feed_stderr(chunk)
    everything = b"".join(chunks)
    seen = []
    output, found = pair.finish(lambda tail: (seen.append(tail) or b"", "trailer"))
    held = everything[max(0, len(everything) - hold_back):]
    assert seen == [held]
    assert found == "trailer"
    rest = everything[:len(everything) - len(held)]
    assert (output.stderr.bytes, output.stderr.sha256) == (len(rest), hexdigest(rest))


@given(out=CHUNKS, err=CHUNKS, hold_back=st.integers(0, 30))
def test_the_joint_digest_is_stdout_then_stderr(out: list[bytes], err: list[bytes], hold_back: int) -> None:
    pair = OutputPair(10_000, 10_000, 10_000, hold_back)
    for chunk in err:
        pair.feed_stderr(chunk)
    for chunk in out:
        pair.feed_stdout(chunk)
    output, found = pair.finish(nothing_held)
    assert found is None
    assert output.sha256 == hexdigest(b"".join(out) + b"".join(err))
    assert output.stderr.kept == b"".join(err)


def test_a_truncated_stdout_still_has_a_joint_digest() -> None:
    pair = OutputPair(1000, 1000, keep=8)
    pair.feed_stdout(b"x" * 100)
    pair.feed_stderr(b"err")
    output, _ = pair.finish(nothing_held)
    assert output.stdout.truncated
    assert output.sha256 == hexdigest(b"x" * 100 + b"err")


def test_a_truncated_stderr_has_none() -> None:
    pair = OutputPair(1000, 1000, keep=8)
    pair.feed_stderr(b"x" * 9)
    output, _ = pair.finish(nothing_held)
    assert output.stderr.truncated
    assert output.sha256 == ""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_may_fill_its_cap_but_not_exceed_it(stream: str) -> None:
    pair = OutputPair(10, 10, keep=100)
    feed = pair.feed_stdout if stream == "stdout" else pair.feed_stderr
    feed(b"x" * 10)
    assert not pair.over_limit
    feed(b"x")
    assert pair.over_limit
    assert pair.finish(nothing_held)[0].over_limit


def test_held_back_bytes_count_once_they_are_known_to_be_output() -> None:
    pair = OutputPair(10, 10, keep=100, hold_back=4)
    pair.feed_stderr(b"x" * 12)
    assert not pair.over_limit
    assert pair.finish(nothing_held)[0].over_limit


def test_memory_stays_flat_however_much_is_fed() -> None:
    chunk = memoryview(bytes(64 * 1024))
    pair = OutputPair(1 << 30, 1 << 30, keep=64 * 1024, hold_back=256)
    tracemalloc.start()
    try:
        for _ in range(200):
            pair.feed_stdout(chunk)
            pair.feed_stderr(chunk[:1000])
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
