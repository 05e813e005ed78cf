"""The engine's multiplexed stream, cut anywhere."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import EngineUnavailable
from runner.sandbox.backends.docker.attach import FrameReader

PIECES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=50)), max_size=12)


@given(PIECES, st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_frames_come_out_whole_however_they_are_cut(pieces, cuts):
    wire = b"".join(struct.pack(">BxxxL", stream, len(data)) + data for stream, data in pieces)
    reader, seen, position = FrameReader(), {1: b"", 2: b""}, 0
    while position < len(wire):
        step = cuts[position % len(cuts)]
        for stream, data in reader.feed(memoryview(wire)[position:position + step]):
            seen[stream] += bytes(data)
        position += step
    assert seen == {number: b"".join(data for stream, data in pieces if stream == number) for number in (1, 2)}


def test_an_unknown_stream_is_not_guessed_at():
    with pytest.raises(EngineUnavailable, match="unknown stream 7"):
        list(FrameReader().feed(memoryview(struct.pack(">BxxxL", 7, 0))))
