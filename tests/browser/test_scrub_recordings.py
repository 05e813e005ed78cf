"""A HAR and a trace that Chromium really recorded: no secret of the application is left, and both still open."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import playwright
import pytest
from playwright.sync_api import sync_playwright
from secret_app import SECRETS, serving

from runner.scrub.forms import forms
from runner.scrub.har import scrub_har_file
from runner.scrub.scrubber import Scrubber
from runner.scrub.tracezip import learn_trace, scrub_trace

CHROMIUM = "/usr/bin/chromium"
VIEWER = Path(playwright.__file__).parent / "driver/package/lib/vite/traceViewer"


@dataclass(frozen=True)
class Recording:
    """What a session left behind, as it was and scrubbed."""

    har: bytes
    trace: bytes
    clean_har: bytes
    clean_trace: bytes


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("recording")
    with serving() as url, sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        context = browser.new_context(record_har_path=folder / "network.har")
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        with page.expect_console_message(lambda message: message.text.startswith("said")), \
                page.expect_event("pageerror"):
            page.goto(url)
        page.fill("#user", "bob")
        page.fill("#kennziffer", SECRETS["typed"])
        page.click("#go")
        page.wait_for_function("document.title === 'done'")
        context.tracing.stop(path=folder / "trace.zip")
        context.close()
        browser.close()
    har, trace = (folder / "network.har").read_bytes(), (folder / "trace.zip").read_bytes()
    scrubber = Scrubber()
    with scrubber.learning():
        scrub_har_file(har, scrubber)
        learn_trace(trace, scrubber)
    return Recording(har, trace, scrub_har_file(har, scrubber), scrub_trace(trace, scrubber))


def entries(trace: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(trace)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def found(data: bytes) -> list[str]:
    return [name for name, secret in SECRETS.items() if any(form.encode() in data for form in forms(secret))]


def test_every_secret_was_recorded(recording: Recording) -> None:
    assert found(recording.har + b"".join(entries(recording.trace).values())) == list(SECRETS)


def test_none_is_left(recording: Recording) -> None:
    assert found(recording.clean_har) == []
    assert {name: found(data) for name, data in entries(recording.clean_trace).items() if found(data)} == {}
    assert found(" ".join(entries(recording.clean_trace)).encode()) == []


def test_what_is_no_secret_is_still_there(recording: Recording) -> None:
    har, trace = recording.clean_har, b"".join(entries(recording.clean_trace).values())
    for text in (b"plain words stay", b"note stays", b"session_token=[REDACTED]&item=7", b"kept", b"welcome", b"bob"):
        assert text in har + trace
    old, new = json.loads(recording.har)["log"], json.loads(har)["log"]
    assert [[entry["request"]["method"], entry["response"]["status"], entry["time"]] for entry in old["entries"]] == [
        [entry["request"]["method"], entry["response"]["status"], entry["time"]] for entry in new["entries"]]
    assert old["pages"] == new["pages"]


def test_pictures_stay_and_bodies_are_found_under_their_new_names(recording: Recording) -> None:
    old, new = entries(recording.trace), entries(recording.clean_trace)
    pictures = [name for name in old if name.endswith(".jpeg")]
    assert pictures
    assert all(new[name] == old[name] for name in pictures)
    bodies = [json.loads(line)["snapshot"]["response"]["content"].get("_file")
              for line in new["trace.network"].splitlines()]
    assert all(name in new for name in bodies if name)
    assert any(name not in old for name in bodies if name)


def test_scrubbing_again_changes_nothing(recording: Recording) -> None:
    scrubber = Scrubber()
    with scrubber.learning():
        scrub_har_file(recording.clean_har, scrubber)
        learn_trace(recording.clean_trace, scrubber)
    assert scrub_har_file(recording.clean_har, scrubber) == recording.clean_har
    assert entries(scrub_trace(recording.clean_trace, scrubber)) == entries(recording.clean_trace)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def viewer(recording: Recording, tmp_path: Path) -> Iterator[str]:
    """Playwright's own trace viewer, with the scrubbed trace beside it."""
    folder = tmp_path / "viewer"
    folder.symlink_to(VIEWER)
    (tmp_path / "trace.zip").write_bytes(recording.clean_trace)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield f"{address}/viewer/index.html?trace={address}/trace.zip"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_playwrights_viewer_opens_the_trace(viewer: str) -> None:
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        page = browser.new_page()
        page.goto(viewer)
        page.get_by_text("#kennziffer").first.click()
        snapshot = page.frame_locator("iframe.snapshot-visible")
        assert "plain words stay [REDACTED]" in (snapshot.locator("#hello").text_content() or "")
        assert snapshot.locator("#kennziffer").input_value() in ("", "[REDACTED]")
        page.get_by_role("tab", name="Network").click()
        page.get_by_text("session_token").first.wait_for()
        browser.close()
