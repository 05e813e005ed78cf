"""Output as markup: colours become classes, everything else is shown and nothing is obeyed."""

import html
import re
import time

import pytest

from runner.reports.html.ansi import render_output
from runner.reports.html.sgr import Pen


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def marked(markup: str) -> str:
    """What is highlighted, as text."""
    return plain("".join(re.findall(r"<mark>(.*?)</mark>", markup, re.DOTALL)))


@pytest.mark.parametrize(("parameters", "classes"), [
    ("31", "f1"), ("1;31", "b f1"), ("91", "f9"), ("41", "g1"), ("41;97", "g1"), ("102", "g2"),
    ("38;5;1", "f1"), ("38;5;196", "f9"), ("38;5;244", "f8"), ("38;2;250;10;10", "f9"), ("38:2::0:0:238", "f4"),
    ("48;5;21", "g4"), ("38:5:2", "f2"), ("31;0", ""), ("31;", ""), ("31;39", ""), ("41;49", ""), ("1;2;22", ""),
    ("7", "v"), ("7;31", "g1"), ("31;7;27", "f1"), ("7;41", "g0"), ("4:3", "u"), ("4;4:0", ""), ("8", "h"), ("5", ""),
    ("38;5;256", ""), ("38;2;1", "f0"), ("38;9;1", ""), ("38", ""), ("38;5", "f0"), ("58;5;1;31", "f1"), ("999", ""),
    ("9" * 5000, ""), ("\u0661", ""), ("2;3;9", "d i s")])
def test_colours_become_a_bounded_set_of_classes(parameters, classes):
    pen = Pen()
    pen.apply(parameters)
    assert pen.classes == classes


def test_neighbours_of_one_colour_share_an_element():
    assert render_output(b"\x1b[31ma\x1b[31mb\x1b[0mc") == '<span class="f1">ab</span>c'


@pytest.mark.parametrize(("raw", "shown"), [
    (b"\x1b[2J\x1b[6n", "^[[2J^[[6n"), (b"\x1b]0;title\x07x", "^[]0;title^Gx"),
    (b"\x1b]8;;javascript:alert(1)\x1b\\here\x1b]8;;\x1b\\", "^[]8;;javascript:alert(1)^[\\here^[]8;;^[\\"),
    (b"\x1b]0;never ended\nnext", "^[]0;never ended\nnext"), (b"\x1bPq\x1b\\", "^[Pq^[\\"), (b"\x1b", "^["),
    (b"a\x00b\x7f\x08", "a^@b^?^H"), (b"\xff\xfe\xc3", "\\xff\\xfe\\xc3"), ("\x9b31m".encode(), "<U+009B>31m"),
    ("\u202eevil\u2066".encode(), "<U+202E>evil<U+2066>"), ("\u200b\ufeff\U000e0041".encode(),
                                                           "<U+200B><U+FEFF><U+E0041>"),
    (b"\xed\xa0\x80", "\\xed\\xa0\\x80"), ("tab\tand\u00a0space".encode(), "tab\tand\u00a0space"),
    (b"one\r\ntwo\r\n", "one\ntwo\n"), ("日本 שלום é".encode(), "日本 שלום é")])
def test_controls_are_spelled_out(raw, shown):
    assert plain(render_output(raw)) == shown


def test_text_is_escaped():
    assert render_output(b"<script>&\"'</script>") == "&lt;script&gt;&amp;&#34;&#39;&lt;/script&gt;"


def test_an_overwritten_line_shows_its_first_and_last_state():
    raw = b"\r".join(b"%d%%" % part for part in range(101)) + b"\ndone\n"
    assert plain(render_output(raw)) == "0%^M\n… overwritten states not shown …\n100%\ndone\n"


def test_a_few_overwritten_states_are_all_shown():
    assert plain(render_output(b"a\rb\rc\n")) == "a^M\nb^M\nc\n"


def test_an_overwritten_state_that_matched_is_shown():
    raw = b"\r".join(b"step %d" % part for part in range(9)) + b"\n"
    at = raw.index(b"step 4")
    assert marked(render_output(raw, (at, at + 6))) == "step 4"


def test_colours_set_in_a_hidden_state_hold():
    assert render_output(b"a\rb\x1b[31m\rc\rd\re\n").endswith('<span class="f1">e\n</span>')


@pytest.mark.parametrize("before", [b"", b"plain ", b"\xff\xfe\xe2\x28\xa1", "é😀 ".encode(), b"\x1b[31m", b"\xf0\x9f",
                                    b"\r\r\r\r\r\r\r", b"\x00\x1b]0;t\x07"])
@pytest.mark.parametrize("needle", [b"ledger is off", "größe".encode(), b"a\nb", b"\x00\x01", b"caf\xc3"])
def test_the_highlight_does_not_shift(before, needle):
    raw = before + needle + b"\xa9 after"
    shown = marked(render_output(raw, (len(before), len(before) + len(needle))))
    assert shown == plain(render_output(needle))


def test_a_match_keeps_the_colours_around_it():
    raw = b"\x1b[31mERR: \x1b[1moff by\x1b[0m one"
    at = raw.index(b"R: ")
    assert render_output(raw, (at, raw.index(b" by"))) == (
        '<span class="f1">ER</span><mark><span class="f1">R: </span><span class="e">^[[1m</span>'
        '<span class="b f1">off</span></mark><span class="b f1"> by</span> one')


@pytest.mark.parametrize("inside", [b"\x1b[31m", b"\x1b]0;the title\x07"])
def test_a_match_inside_a_sequence_can_be_seen(inside):
    raw = b"x" + inside + b"y"
    assert marked(render_output(raw, (3, 5))) == plain(render_output(inside, (0, len(inside))))


@pytest.mark.parametrize("unit", [
    b"\x1b]", b"\x1b[", b"\x1b[1", b"\x1b[1;", b"0\r", b"\x1b[31ma", b"\x80", b"\xe2\x80\xae", b"\x1b]8;;a",
    b"\x00a", b"\x1b[38;2;1;2;3m", b"\r\n\r", b"<&"])
def test_work_is_linear_in_hostile_input(unit):
    """Eight times the input takes about eight times the processor's time; a quadratic step would take 64 times."""
    small, large = unit * (1 << 12), unit * (1 << 15)
    assert _seconds(large) < 30 * _seconds(small) + 0.05


def _seconds(data: bytes) -> float:
    best = 60.0
    for _ in range(3):
        started = time.process_time()
        render_output(data)
        best = min(best, time.process_time() - started)
    return best
