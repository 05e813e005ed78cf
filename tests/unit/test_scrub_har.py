"""LOKI's own HAR, and what is special in archives: no secret is left, and everything else is as it was."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from runner.browser.redacted import REDACTED
from runner.scrub import har as har_module
from runner.scrub.har import Unscrubbable, scrub_har, scrub_har_file
from runner.scrub.rules import DROPPED
from runner.scrub.scrubber import Scrubber

SAMPLE = Path(__file__).parents[1] / "data" / "loki" / "crash" / "network.har"
SECRETS = ("demo-secret-1234", "demo-bearer-token", "demo-cookie-value", "demo-password", "demo-jwt",
           "4111111111111111", "tok_local_demo_value")


def scrubbed(har: Any) -> Any:
    scrubber = Scrubber()
    with scrubber.learning():
        scrub_har(har, scrubber)
    return scrub_har(har, scrubber)


def entry(request: dict[str, Any] | None = None, response: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "entries": [{"request": request or {}, "response": response or {}, **more}]}}


def only(har: Any, part: str = "response") -> Any:
    return har["log"]["entries"][0][part]


def test_lokis_sample_holds_no_secret_and_stays_readable() -> None:
    har = json.loads(SAMPLE.read_text(encoding="utf-8"))
    before = copy.deepcopy(har)
    assert "demo-secret-1234" in json.dumps(har)
    clean = scrubbed(har)
    text = json.dumps(clean)
    assert [secret for secret in SECRETS if secret in text] == []
    assert har == before
    assert "http://127.0.0.1:8801/api/pay?session_token=[REDACTED]&item=7" in text
    assert {"name": "item", "value": "7"} in clean["log"]["entries"][1]["request"]["queryString"]
    assert "pending.order.items.push(1);            // bug 1: order is not there yet" in text
    assert [item["request"]["url"] for item in clean["log"]["entries"]] == [
        item["request"]["url"] for item in har["log"]["entries"]]


def test_scrubbing_lokis_sample_again_changes_nothing() -> None:
    clean = scrubbed(json.loads(SAMPLE.read_text(encoding="utf-8")))
    assert scrubbed(clean) == clean


def test_an_archive_without_secrets_is_the_same() -> None:
    har = entry({"url": "http://h/a?b=1&c=%20x#d", "headers": [{"name": "Accept", "value": "*/*"}],
                 "postData": {"mimeType": "application/json", "text": '{ "author" : "me",  "n": 1.50 }', "params": []}},
                {"content": {"mimeType": "text/html", "size": 20, "text": "<p class='x'>plain</p>"}, "redirectURL": ""},
                time=1.5, _monotonicTime=2.25, cache={})
    assert scrubbed(har) == har


def test_names_of_cookies_and_attributes_stay() -> None:
    clean = scrubbed(entry({"headers": [{"name": "Cookie", "value": "sid=abc12345; theme=light"}],
                            "cookies": [{"name": "theme", "value": "light", "path": "/"}]},
                           {"headers": [{"name": "Set-Cookie", "value": "sid=abc12345; Path=/; HttpOnly\nb=c"}]}))
    assert only(clean, "request")["headers"][0]["value"] == "sid=[REDACTED]; theme=[REDACTED]"
    assert only(clean, "request")["cookies"] == [{"name": "theme", "value": REDACTED, "path": "/"}]
    assert only(clean)["headers"][0]["value"] == "sid=[REDACTED]; Path=/; HttpOnly\nb=[REDACTED]"


def test_a_scheme_stays_and_basic_credentials_are_seen_through() -> None:
    basic = base64.b64encode(b"bob:pass-word-77").decode()
    clean = scrubbed(entry({"headers": [{"name": "authorization", "value": f"Basic {basic}"}]},
                           {"statusText": "hello pass-word-77"}))
    assert only(clean, "request")["headers"][0]["value"] == "Basic [REDACTED]"
    assert only(clean)["statusText"] == "hello [REDACTED]"


def test_base64_content_is_decoded_and_its_size_follows() -> None:
    body = base64.b64encode(b'{"token": "abcdef-123"}').decode()
    clean = only(scrubbed(entry(None, {"content": {
        "size": 23, "mimeType": "application/json", "text": body, "encoding": "base64"}})))["content"]
    assert base64.b64decode(clean["text"]) == b'{"token": "[REDACTED]"}'
    assert clean["size"] == len(b'{"token": "[REDACTED]"}')


def test_a_picture_passes_byte_for_byte_and_what_cannot_be_read_does_not() -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode()
    archive = base64.b64encode(b"\x1f\x8b\x08\x00secret").decode()
    for text, kind, kept in ((picture, "image/png", True), (archive, "application/gzip", False),
                             ("!no base64!", "image/png", False), (archive, "image/png", False)):
        content = only(scrubbed(entry(None, {"content": {
            "size": 1, "mimeType": kind, "text": text, "encoding": "base64"}})))["content"]
        assert (content["text"] == text) is kept
        assert kept or (content["text"] == DROPPED and "encoding" not in content)


def test_messages_of_a_websocket() -> None:
    binary = base64.b64encode(b'{"auth":{"user":"bob","n":5}}').decode()
    clean = scrubbed(entry(_webSocketMessages=[
        {"type": "send", "time": 1, "opcode": 1, "data": '{"type":"login","password":"wonder-wall-1"}'},
        {"type": "receive", "time": 2, "opcode": 2, "data": binary}, {"type": "receive", "data": None}]))
    first, second, third = only(clean, "_webSocketMessages")
    assert first["data"] == '{"type":"login","password":"[REDACTED]"}'
    assert base64.b64decode(second["data"]) == b'{"auth":{"user":"[REDACTED]","n":"[REDACTED]"}}'
    assert third == {"type": "receive", "data": None}


@pytest.mark.parametrize("har", [None, [], 7, {"log": None}, {"log": {"entries": 5}}, {"log": {"entries": [None, [], {
    "request": 1, "response": [2]}]}}, entry({"url": 5, "headers": {"a": 1}, "cookies": [1, {"value": 2}],
                                              "postData": []}, {"content": 5, "redirectURL": None})])
def test_any_shape_is_taken(har: Any) -> None:
    assert scrubbed(har) == har


def test_what_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unscrubbable, match="no JSON"):
        scrub_har_file(b"{", Scrubber())
    with pytest.raises(Unscrubbable, match="no JSON"):
        scrub_har_file(b"[" * 100_000, Scrubber())
    monkeypatch.setattr(har_module, "MOST", 10)
    with pytest.raises(Unscrubbable, match="more than 10"):
        scrub_har_file(b" " * 11, Scrubber())


def test_a_file_of_bytes() -> None:
    scrubber = Scrubber()
    raw = SAMPLE.read_bytes()
    with scrubber.learning():
        scrub_har_file(raw, scrubber)
    clean = scrub_har_file(raw, scrubber)
    assert json.loads(clean) == scrubbed(json.loads(raw))
    assert scrubber.removed > 0
