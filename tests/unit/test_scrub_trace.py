"""Traces from strangers: what their files may not do, and how lines and bodies stay together."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from typing import Any

import pytest

from runner.scrub import tracezip as tracezip_module
from runner.scrub.har import Unscrubbable
from runner.scrub.rules import DROPPED
from runner.scrub.scrubber import Scrubber
from runner.scrub.tracezip import learn_trace, scrub_trace


def packed(*entries: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", kind) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, kind)
    return sink.getvalue()


def scrubbed(trace: bytes) -> dict[str, bytes]:
    scrubber = Scrubber()
    with scrubber.learning():
        learn_trace(trace, scrubber)
    with zipfile.ZipFile(io.BytesIO(scrub_trace(trace, scrubber))) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def body(data: bytes, end: str = ".json") -> str:
    return f"resources/{hashlib.sha1(data, usedforsecurity=False).hexdigest()}{end}"


def test_a_body_that_changed_is_renamed_wherever_it_is_named() -> None:
    secret, plain = b'{"pin": "1234", "x": 1}', b'{"x": 2}'
    network = lines(*({"type": "resource-snapshot", "snapshot": {"response": {"content": {
        "mimeType": "application/json", "_file": body(data)}}}} for data in (secret, plain)))
    trace = lines({"type": "frame-snapshot", "snapshot": {"resourceOverrides": [{"url": "/a", "file": body(secret)}]}})
    new = scrubbed(packed((body(secret), secret), ("trace.trace", trace), ("trace.network", network),
                          (body(plain), plain)))
    fresh = b'{"pin": "[REDACTED]", "x": 1}'
    assert new[body(fresh)] == fresh
    assert new[body(plain)] == plain
    assert body(secret) not in new
    assert body(secret)[10:50].encode() not in new["trace.trace"] + new["trace.network"]
    assert body(fresh).encode() in new["trace.trace"]
    assert new["trace.network"].count(b"\n") == 2


def test_the_request_tells_what_a_body_is() -> None:
    form = b"a=1&kw=b"
    snapshot = {"request": {"url": "http://h/?kw=b", "postData": {
        "mimeType": "application/x-www-form-urlencoded", "_sha1": body(form, ".dat")[10:]}}}
    page = lines({"html": ["INPUT", {"type": "password", "name": "kw", "value": "b"}]})
    new = scrubbed(packed(("0-trace.trace", page), (body(form, ".dat"), form), (
        "trace.network", lines({"type": "resource-snapshot", "snapshot": snapshot}))))
    assert new[body(b"a=1&kw=[REDACTED]", ".dat")] == b"a=1&kw=[REDACTED]"
    assert b"?kw=[REDACTED]" in new["trace.network"]


def test_a_trace_without_secrets_keeps_every_byte() -> None:
    entries = (("trace.trace", b'{"type": "log",  "message": "x"}\n'), ("trace.stacks", b'{"files": []}'),
               ("resources/page@1-2.jpeg", b"\xff\xd8\xff\x00"), ("empty", b""))
    assert scrubbed(packed(*entries)) == dict(entries)


def test_lines_that_are_no_json_are_dropped() -> None:
    new = scrubbed(packed(("trace.trace", b'{"a": 1}\n{"token\n' + b"[" * 100_000 + b"\n{}")))
    first, second, third, last = new["trace.trace"].split(b"\n")
    assert (first, last) == (b'{"a": 1}', b"{}")
    assert json.loads(second) == json.loads(third) == {"type": "log", "message": DROPPED}


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../b", "a/b/c", "C:\\x", "a\\..\\b", ".hidden",
                                  "src/a.py", "resources/", "a\nb", "é", "x" * 201])
def test_names_that_no_trace_has_are_left_out(name: str) -> None:
    assert scrubbed(packed((name, b"x"), ("trace.trace", b""))) == {"trace.trace": b""}


def test_a_name_that_comes_twice_counts_once() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        trace = packed(("trace.trace", b"{}"), ("trace.trace", b'{"token": "x"}'))
    assert scrubbed(trace) == {"trace.trace": b"{}"}


def test_what_is_no_zip_file_is_refused() -> None:
    good = packed(("trace.trace", b"{}" * 100))
    broken = bytearray(good)
    broken[42] ^= 0xFF
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 5 << 20, 0, 0)
    for raw, why in ((b"", "does not end"), (b"x" * 100, "does not end"), (good + b"x", "does not end"),
                     (good[:-22] + b"PK\x06\x07" + bytes(16) + good[-22:], "ZIP64"), (end, "directory has 5242880"),
                     (bytes(broken), "no readable ZIP"), (good[:40] + good[-22:], "no readable ZIP"),
                     (packed(("a", b"x"), kind=zipfile.ZIP_LZMA), "neither stored nor deflated")):
        with pytest.raises(Unscrubbable, match=why):
            scrub_trace(raw, Scrubber())


def test_bombs_are_refused() -> None:
    with pytest.raises(Unscrubbable, match="holds more than"):
        scrub_trace(packed(("resources/a.txt", bytes(4 << 20))), Scrubber())


def test_every_bound_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = packed(("a", b"x" * 60), ("b", b"y" * 60))
    for name, most, why in (("MOST", 100, "more than 100"), ("MOST_ENTRIES", 1, "more than 1 entries"),
                            ("MOST_ENTRY", 59, "more than 59"), ("MOST_IN_ALL", 100, "more than 40")):
        with monkeypatch.context() as patch:
            patch.setattr(tracezip_module, name, most)
            with pytest.raises(Unscrubbable, match=why):
                scrub_trace(trace, Scrubber())


def test_a_size_that_lies_is_not_believed() -> None:
    trace = bytearray(packed(("a", b"x" * 60)))
    at = trace.index(b"PK\x01\x02")
    trace[at + 24:at + 28] = struct.pack("<L", 5)
    with pytest.raises(Unscrubbable, match="no readable ZIP"):
        scrub_trace(bytes(trace), Scrubber())
