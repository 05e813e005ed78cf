"""What may be drawn: by the stream, TERM and NO_COLOR."""

import io

import pytest

from runner.cli.terminal import VERDICT_COLOURS, colours, painted, redraws, width


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stream", "term", "no_color", "drawn", "coloured"), [
    (Screen(), "xterm", None, True, True), (Screen(), "xterm", "", True, True), (Screen(), "xterm", "1", True, False),
    (Screen(), "dumb", None, False, False), (Screen(), "", None, False, False),
    (io.StringIO(), "xterm", None, False, False)])
def test_what_a_stream_can_show(monkeypatch, stream, term, no_color, drawn, coloured):
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    assert (redraws(stream), colours(stream)) == (drawn, coloured)


def test_every_verdict_has_its_colour():
    assert {painted("x", colour, on=True) for colour in VERDICT_COLOURS.values()} == {
        "\x1b[32mx\x1b[0m", "\x1b[31mx\x1b[0m", "\x1b[33mx\x1b[0m"}
    assert painted("x", "red", on=False) == "x"


def test_a_stream_without_a_width_has_a_usual_one():
    assert width(io.StringIO()) == 80
