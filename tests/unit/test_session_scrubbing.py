"""What a session leaves behind is scrubbed or not kept, and a page cannot make that cost what it likes."""

from __future__ import annotations

import json

from runner.controller.sessions.scrubbing import MOST, scrub_session

HAR = {"log": {"version": "1.2", "creator": {}, "entries": [], "pages": []}}


def scrubbed(**files: bytes) -> tuple[dict[str, bytes], tuple[str, ...]]:
    return scrub_session({"target_url": "http://127.0.0.1/"}, {name.replace("_", "."): data for name, data in
                                                               files.items()})[1:]


def test_what_is_small_is_scrubbed_and_kept():
    files, notes = scrubbed(network_har=json.dumps(HAR).encode(), dom_html=b"<p>password=hunter2-hunter2</p>",
                            replay_webm=b"picture")
    assert set(files) == {"network.har", "dom.html", "replay.webm"}
    assert notes == ()


def test_what_is_too_large_is_not_kept_and_that_is_told():
    files, notes = scrubbed(network_har=b" " * (MOST + 1), replay_webm=b"x" * (MOST + 1))
    assert set(files) == {"replay.webm"}
    assert notes == ("network.har could not be scrubbed, and was not kept: more than 16 MiB",)


def test_what_cannot_be_read_is_not_kept():
    files, notes = scrubbed(network_har=b"no JSON", trace_zip=b"no archive", odd_bin=b"?")
    assert files == {}
    assert len(notes) == 3
