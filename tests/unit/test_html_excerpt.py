"""Long output: its beginning, its end, what is around the match, and how much is missing."""

from hashlib import sha256

import pytest

from runner.evidence.parts import StreamRecord
from runner.evidence.result import MatchRecord
from runner.reports.html.excerpt import excerpt, shown_ranges

LIMIT = 4096


def stream(data: bytes, **changes) -> StreamRecord:
    digest = sha256(data).hexdigest()
    return StreamRecord(**{"bytes": len(data), "sha256": digest, "truncated": False, "kept": len(data),
                           "kept_sha256": digest, "file": "stdout-1.bin", **changes})


def parts(data: bytes, match=None, limit=LIMIT, **changes) -> list[str]:
    span = MatchRecord(stream="stdout", start=match[0], end=match[1]) if match else None
    return [part.left_out or str(part.markup) for part in
            excerpt("stdout", stream(data, **changes), data, span, limit).parts]


def test_short_output_is_whole_and_none_is_nothing():
    assert parts(b"hello\n") == ["hello\n"]
    assert parts(b"") == []


def test_long_output_says_how_much_is_not_shown():
    head, gap, tail = parts(b"a" * 10_000)
    assert (set(head), set(tail)) == ({"a"}, {"a"})
    assert gap == "5.77 KiB not shown here"
    assert len(head) + len(tail) == LIMIT


def test_the_match_is_shown_wherever_it_is():
    data = b"".join(b"line %d\n" % number for number in range(100_000))
    at = data.index(b"line 50000\n")
    shown = parts(data, (at, at + 10))
    assert [part for part in shown if "<mark>line 50000</mark>" in part]
    assert len(shown) == 5
    assert all("<mark>" not in part for part in (shown[0], shown[-1]))
    assert shown[2].startswith("line 4")
    assert shown[2].endswith("\n")


def test_a_match_longer_than_the_limit_shows_both_its_ends():
    data = b"." * 50_000 + b"<" + b"m" * 50_000 + b">" + b"." * 50_000
    shown = "".join(parts(data, (50_000, 100_002)))
    assert "<mark>&lt;" in shown
    assert "&gt;</mark>" in shown


@pytest.mark.parametrize("span", [(0, 1), (99_999, 100_000), (0, 100_000), (50_000, 50_001), (2000, 3000)])
def test_ranges_are_sorted_apart_and_bounded(span):
    data = b"0123456\n8\xc3\xa9" * 9_091
    ranges = shown_ranges(data, span, LIMIT)
    flat = [edge for pair in ranges for edge in pair]
    assert flat == sorted(set(flat))
    assert sum(end - begin for begin, end in ranges) <= LIMIT + LIMIT // 16
    for at in (span[0], min(span[1], len(data)) - 1):
        assert any(begin <= at < end for begin, end in ranges)


def test_no_character_is_cut_in_two():
    assert "\\x" not in "".join(parts("é".encode() * 5_000 + b"x" + "日".encode() * 5_000))


def test_the_place_where_the_capture_lost_its_middle_is_shown():
    shown = parts(b"head\ntail\n", truncated=True, bytes=1_000_010)
    assert shown == ["head\n", "977 KiB not kept", "tail\n"]


@pytest.mark.parametrize("span", [(-5, 3), (3, 3), (4, 2), (0, 99), (50, 60)])
def test_a_span_that_does_not_fit_highlights_nothing(span):
    assert parts(b"hello\n", span) == ["hello\n"]


def test_what_was_done_to_a_stream_is_said():
    seen = excerpt("stdout", stream(b"x" * 10, truncated=True, bytes=5000, masked=4), b"x" * 10, None, LIMIT)
    assert seen.facts == ("4.88 KiB", "truncated: 10 B kept, from the beginning and the end",
                          "4 B masked: credentials")
