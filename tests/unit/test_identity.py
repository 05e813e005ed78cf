"""The same bug has one name in every run, and two bugs have two."""

from __future__ import annotations

import re
import time

import pytest

from runner.browser.outcome import Signal
from runner.incidents.identity import Identity, error_identity, fits, frames_of, identity_of, race_identity
from runner.incidents.normalise import MAX_MESSAGE, normal_message, normal_url

ITEMS = "Cannot read properties of undefined (reading 'items')"


@pytest.mark.parametrize(("message", "normal"), [
    (ITEMS, ITEMS),
    ("Request failed with status code 404", "Request failed with status code 404"),
    ("order 1796029900 at 2026-11-30T08:17:27.891Z", "order {n} at {time}"),
    ("row 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone", "row {uuid} is gone"),
    ("chunk 0x7ffd12 of 9f86d081884c7d65", "chunk {hex} of {hex}"),
    ("took 12.54 s", "took {n} s"),
    ("version 1.2.3 and v2.1", "version 1.2.3 and v2.1"),
    ("deadbeef facade", "deadbeef facade"),
    ("Unexpected token 'A', \"AAAAB\"... is not valid JSON", "Unexpected token {text}, {text} is not valid JSON"),
    ("Unexpected token < in JSON at position 17", "Unexpected token {text} in JSON at position {n}"),
    ('"undefined" is not valid JSON', "{text} is not valid JSON"),
    ("cannot load http://u:p@localhost:80/a/1234567?token=s3cret#x.", "cannot load http://127.0.0.1/a/{n}?token."),
    ("got '" + "x" * 65 + "' for 'name'", "got {text} for 'name'"),
    ("I can't, and here comes more than sixty-four characters of plain English, so don't",
     "I can't, and here comes more than sixty-four characters of plain English, so don't"),
    ("two\n  lines", "two lines"),
    ("bad Error: x\n    at b.onclick (http://h:81/con:1:149)\n    at http://h:81/:21:19, http://h:81 and http://h/a:7",
     "bad Error: x at b.onclick (http://h:81/con) at http://h:81/, http://h:81/ and http://h/a"),
])
def test_a_message_loses_what_varies_and_nothing_else(message: str, normal: str) -> None:
    assert normal_message(message) == normal


@pytest.mark.parametrize(("url", "pattern"), [
    ("http://127.0.0.1:8811/apply/3", "http://127.0.0.1:8811/apply/3"),
    ("http://localhost:8811/apply/3#top", "http://127.0.0.1:8811/apply/3"),
    ("http://[::1]:8811/x", "http://127.0.0.1:8811/x"),
    ("https://shop.example:443/orders/184467?b=2&a=1&a=3", "https://shop.example/orders/{n}?a&b"),
    ("https://shop.example", "https://shop.example/"),
    ("http://h/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301/card", "http://h/users/{uuid}/card"),
    ("http://h/assets/index-BfX3a9_Q.js", "http://h/assets/index-{build}.js"),
    ("http://h/assets/site.chunk.js", "http://h/assets/site.chunk.js"),
    ("data:text/html,secret", "data:"),
    ("http://h:99999/x", "http://h:{n}/x"),
    ("", ""),
])
def test_a_url_becomes_a_pattern(url: str, pattern: str) -> None:
    assert normal_url(url) == pattern


def test_a_rejection_is_the_page_error_that_it_is_reported_as() -> None:
    stack = f"TypeError: {ITEMS}\n    at HTMLButtonElement.<anonymous> (http://127.0.0.1:8801/:21:19)"
    error = Signal("pageerror", 0, 1.0, ITEMS, stack)
    rejection = Signal("unhandled_rejection", 4, 9.0, f"Uncaught (in promise) TypeError: {ITEMS}", stack)
    assert identity_of(error) == identity_of(rejection)
    assert identity_of(error).key == f"pageerror: {ITEMS} at HTMLButtonElement.<anonymous> /"
    assert re.fullmatch("[0-9a-f]{12}", identity_of(error).id)


def test_a_page_that_is_too_wide_is_one_however_wide_the_fonts_make_it() -> None:
    def wide(page: str, by: str, screen: int = 393) -> Identity:
        return identity_of(Signal("layout", 0, 1.0, f"Horizontal scroll overflow detected: page content ({page}px)"
                                  f" exceeds mobile viewport width ({screen}px) by {by}px."))
    assert wide("1212", "819") == wide("1424.25", "1031.25") == wide("12121", "11728")
    assert wide("1212", "819") != identity_of(Signal("layout", 0, 1.0, "Missing <meta name='viewport'> tag"))


def test_lines_and_columns_are_no_part_of_a_name_but_functions_and_files_are() -> None:
    def at(frame: str) -> Identity:
        return error_identity("x is not defined", f"ReferenceError: x is not defined\n    at {frame}")
    here = at("save (http://127.0.0.1:8801/cart.js:21:19)")
    assert here == at("save (http://127.0.0.1:8801/cart.js:25:3)") == at("async save (http://h/cart.js:1:1)")
    assert here == at("Object.save [as onclick] (http://h/cart.js:1:1)")
    assert here.frames == ("save /cart.js",)
    assert not fits(here, at("load (http://127.0.0.1:8801/cart.js:21:19)"))
    assert not fits(here, at("save (http://127.0.0.1:8801/other.js:21:19)"))


def test_frames_of_the_browser_and_of_tools_are_left_out() -> None:
    stack = ("Error: boom\n    at Array.forEach (<anonymous>)\n    at new Promise (<anonymous>)\n"
             "    at <anonymous>:3:9\n    at draw (http://h/app.4f2a91cc.js:1:2)\n    at http://h/app.4f2a91cc.js:9:9\n"
             "    at async Promise.all (index 0)\n    at tick (http://h/a.js:1:1)\n    at more (http://h/b.js:1:1)")
    assert frames_of(stack) == ("draw /app.{hex}.js", "<anonymous> /app.{hex}.js", "tick /a.js")
    assert frames_of("draw@http://h/app.js:1:2\n@http://h/app.js:9:9\n") == ("draw /app.js", "<anonymous> /app.js")


@pytest.mark.parametrize(("recorded", "seen", "fitting"), [
    (error_identity(ITEMS), error_identity(ITEMS, "\n    at f (http://h/:1:1)"), True),
    (error_identity(ITEMS), error_identity(ITEMS.replace("items", "total")), False),
    (Identity("http_error", url="http://h/a", status=500),
     Identity("http_error", method="POST", url="http://h/a", status=500), True),
    (Identity("http_error", method="GET", url="http://h/a", status=500),
     Identity("http_error", method="POST", url="http://h/a", status=500), False),
    (Identity("http_error", url="http://h/a", status=500), Identity("http_error", url="http://h/a", status=502), False),
    (Identity("http_error", url="http://h/a", status=500), Identity("http_error", url="http://h/b", status=500), False),
    (Identity("ui_freeze"), identity_of(Signal("ui_freeze", 1, 2.0, "the page is blank")), True),
    (race_identity("POST", "http://localhost:1/x"), race_identity("POST", "http://127.0.0.1:1/x"), True),
    (race_identity("POST", "http://h/x"), Identity("http_error", method="POST", url="http://h/x"), False),
])
def test_what_a_recording_lacks_is_not_compared(recorded: Identity, seen: Identity, fitting: bool) -> None:
    assert fits(recorded, seen) is fitting


def test_a_key_is_one_printable_line() -> None:
    hostile = identity_of(Signal("console_error", 0, 0.0, "\x1b[31mred\nsecond\u202e line\x00"))
    assert hostile.key.isprintable()
    assert len(identity_of(Signal("console_error", 0, 0.0, "x" * 50_000)).message) == MAX_MESSAGE


@pytest.mark.parametrize("text", ['"' * 8000, "'" * 8000 + " is not valid JSON", "a1" * 4000, "http://" * 1200,
                                  "  at x (" * 1000, " at " + "x (" * 2000 + "http://h/:1:1", "Error: " * 1100,
                                  "1-" * 4000, "Uncaught " * 900])
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    for kind in ("pageerror", "console_error", "failed_request"):
        identity_of(Signal(kind, 0, 0.0, text, stack=f"{text}\n{text}", url=text))  # type: ignore[arg-type]
    assert time.process_time() - began < 0.5
