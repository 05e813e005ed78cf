"""Texts, URLs, JSON, forms, multipart bodies, documents and incidents."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from runner.browser.redacted import fits_redacted
from runner.scrub import scrubber as scrubber_module
from runner.scrub.incident import scrub_incident, texts_to_keep
from runner.scrub.rules import DROPPED
from runner.scrub.scrubber import Scrubber

LOKI = Path(__file__).parents[1] / "data" / "loki"

TEXTS = {
    "x = {password: 'p-1234567', note: 'kept'}": "x = {password: '[REDACTED]', note: 'kept'}",
    'const token="abc-99999";': 'const token="[REDACTED]";',
    "localStorage.setItem('auth_token', 'tok_1')": "localStorage.setItem('auth_token', '[REDACTED]')",
    "headers: {'authorization': 'Bearer abcd-efgh-1'}": "headers: {'authorization': 'Bearer [REDACTED]'}",
    'say {\\"password\\":\\"p-1234567\\"} now': 'say {\\"password\\":\\"[REDACTED]\\"} now',
    "GET /a?token=abc&b=1 failed": "GET /a?token=[REDACTED]&b=1 failed",
    "at f (http://u:p@h/x?api_key=k1:3:4)": "at f (http://[REDACTED]@h/x?api_key=[REDACTED]:3:4)",
    "at g (http://h/x?a=1:3:4)": "at g (http://h/x?a=1:3:4)",
    "X-Api-Key: abcdef123\nAccept: x": "X-Api-Key: [REDACTED]\nAccept: x",
    "user=bob&pw=ab": "user=bob&pw=[REDACTED]",
    '<input type="password" name="kw" value="abc">': '<input type="password" name="kw" value="[REDACTED]">',
    "<meta content=abc name=csrf-token>": "<meta content=[REDACTED] name=csrf-token>",
    "<user><password>abc</password></user>": "<user><password>[REDACTED]</password></user>",
    '{"a": 1.50, "pin": 1234, "cvv": "123"}': '{"a": 1.50, "pin": "[REDACTED]", "cvv": "[REDACTED]"}',
    '{"name":"session_token","value":"x y"}': '{"name":"session_token","value":"[REDACTED]"}',
    '{"token": "cut of': '{"token": "[REDACTED]"',
    ')]}\',\n{"secret":["a1","b2"],"n":[1]}': ')]}\',\n{"secret":["[REDACTED]","[REDACTED]"],"n":[1]}',
    '{"body":"{\\"token\\":\\"t\\"}"}': '{"body":"{\\"token\\":\\"[REDACTED]\\"}"}',
    '{"q":"mutation { login(password: \\"pw-123\\") }"}': '{"q":"mutation { login(password: \\"[REDACTED]\\") }"}',
}
PLAIN = (
    "the author of a secretary's discard pile", "Password: must be at least eight characters", "var token=a.b.c;",
    "token = getToken()", '{"author":"x","cardinality":5,"tokens":12,"token_type":"Bearer","auth":true,"pin":null}',
    '<label title="Password:" class="x">Password:</label>', 'alert("password: " + x)', "{", "[]", "[object Object]",
    "['password', 'email', 'name']", "a=b&c=d", "TypeError: Cannot read properties of undefined (reading 'items')")


def learned(*values: Any, keep: tuple[str, ...] = ()) -> Scrubber:
    scrubber = Scrubber(keep)
    with scrubber.learning():
        for value in values:
            scrubber.document(value)
    return scrubber


@pytest.mark.parametrize(("text", "clean"), TEXTS.items())
def test_a_secret_by_its_name(text: str, clean: str) -> None:
    assert Scrubber().text(text) == clean
    assert Scrubber().text(clean) == clean


@pytest.mark.parametrize("text", PLAIN)
def test_what_holds_no_secret_stays(text: str) -> None:
    assert learned(text).text(text) == text


@pytest.mark.parametrize(("url", "clean"), [
    ("https://bob@h/p?a=1", "https://[REDACTED]@h/p?a=1"),
    ("//u:p@h/", "//[REDACTED]@h/"),
    ("https://u:p@q@h/", "https://[REDACTED]@h/"),
    ("/cb?code=abc&state=xyz", "/cb?code=[REDACTED]&state=xyz"),
    ("/coupon?code=SAVE10", "/coupon?code=SAVE10"),
    ("/#/route?token=abc", "/#/route?token=[REDACTED]"),
    ("https://h/#id_token=abc&x=1", "https://h/#id_token=[REDACTED]&x=1"),
    ("https://h/?to=https%3A%2F%2Fi%2F%3Fapi_key%3Dabc", "https://h/?to=https://i/%3Fapi_key%3D[REDACTED]"),
    ("https://h/?%74oken=abc", "https://h/?%74oken=[REDACTED]"),
    ("https://h/ghp_" + "a1" * 20, "https://h/ghp_[REDACTED]"),
    ("http://[::1:bad/?token=a", "http://[::1:bad/?token=[REDACTED]"),
    ("data:application/json,{%22token%22:%22abc%22}", "data:application/json,%7B%22token%22:%22[REDACTED]%22%7D"),
    ("data:application/json;base64," + base64.b64encode(b'{"token":"abc"}').decode(),
     "data:application/json;base64," + base64.b64encode(b'{"token":"[REDACTED]"}').decode()),
    ("data:,", "data:,"), ("https://h/a?b=%20c&d#e", "https://h/a?b=%20c&d#e")])
def test_urls(url: str, clean: str) -> None:
    assert Scrubber().url(url) == clean
    assert Scrubber().url(clean) == clean


def test_a_secret_of_one_place_is_removed_from_all_others() -> None:
    scrubber = learned({"headers": [{"name": "X-Api-Key", "value": 'a/b c+d"é-1'}]})
    for text in ('a/b c+d"é-1', "a%2Fb%20c%2Bd%22%C3%A9-1", "a%2fb+c%2bd%22%c3%a9-1", "a/b c+d&quot;é-1",
                 'a/b c+d\\"\\u00e9-1', base64.b64encode('x a/b c+d"é-1 y'.encode()).decode()):
        clean = scrubber.text(f"<{text}>")
        assert "[REDACTED]" in clean
        assert text not in clean


def test_the_name_of_a_password_input_is_learned() -> None:
    scrubber = learned('<input type="password" name="kennziffer">')
    assert scrubber.data(b"kennziffer=abc&x=1", "application/x-www-form-urlencoded") == b"kennziffer=[REDACTED]&x=1"


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "cp1252", "iso-8859-1"])
def test_a_body_keeps_its_encoding(charset: str) -> None:
    body = 'é {"password": "geheim-ö"}'.encode(charset)
    clean = Scrubber().data(body, f"text/plain; charset={charset}")
    assert clean.decode(charset) == 'é {"password": "[REDACTED]"}'


def test_bodies_that_cannot_be_read_become_a_marker() -> None:
    for body, kind in ((b"PK\x03\x04\x00\x00", ""), (b"%PDF-1.4\x00\xff", "application/pdf"),
                       (b"\x00\x01", "image/png"), (b"no boundary", "multipart/form-data")):
        assert Scrubber().data(body, kind) == DROPPED.encode()
        assert Scrubber().data(DROPPED.encode(), kind) == DROPPED.encode()


def test_multipart_by_parts() -> None:
    def body(password: bytes, inner: bytes) -> bytes:
        return (b'--B\r\nContent-Disposition: form-data; name="password"\r\n\r\n' + password
                + b'\r\n--B\r\nContent-Disposition: form-data; name="f"; filename="a.json"\r\n'
                b'Content-Type: application/json\r\n\r\n{"token":"' + inner + b'"}\r\n--B\r\n'
                b'Content-Disposition: form-data; name="p"\r\n\r\n\x89PNG\r\n\x1a\n\x00\xff\r\n--B--\r\n')
    for kind in ("multipart/form-data; boundary=B", 'multipart/form-data; boundary="B"', "multipart/form-data"):
        assert Scrubber().data(body(b"abc", b"def"), kind) == body(b"[REDACTED]", b"[REDACTED]")


def test_documents_by_keys_pairs_and_groups() -> None:
    document = {"token": "abc", "auth": {"user": "bob", "n": [5, True, None]}, "tokens": 5, "author": "me",
                "arg": {"k": "password", "v": {"s": "zzz"}}, "card": 4111111111111111, "n": 4111111111111111,
                "input": ["INPUT", {"type": "password", "name": "kw", "value": "abc", "class": "x"}], "t": (1, 2)}
    assert Scrubber().document(document) == {
        "token": "[REDACTED]", "auth": {"user": "[REDACTED]", "n": ["[REDACTED]", True, None]}, "tokens": 5,
        "author": "me", "arg": {"k": "password", "v": {"s": "[REDACTED]"}}, "card": "[REDACTED]", "n": "[REDACTED]",
        "input": ["INPUT", {"type": "password", "name": "kw", "value": "[REDACTED]", "class": "x"}], "t": [1, 2]}


def test_a_document_may_be_deep() -> None:
    deep: Any = "token=abc"
    for _ in range(5000):
        deep = [deep]
    clean = Scrubber().document(deep)
    for _ in range(5000):
        clean = clean[0]
    assert clean == "token=[REDACTED]"


def test_what_nests_without_end_or_is_too_much_becomes_a_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"a":1}'
    for _ in range(9):
        text = json.dumps({"a": text})
    assert DROPPED in Scrubber().text(text)
    impatient = Scrubber()
    impatient.patience = 10
    assert impatient.text('{"a":1,"b":2}') == '{"a":1,"b":2}'
    assert impatient.text('{"a":1,"b":2}') == '{"a":1,"b":2}'  # remembered
    assert impatient.text('{"a":1,"b":3,"c":4,"d":5}') == DROPPED
    monkeypatch.setattr(scrubber_module, "LARGEST", 10)
    assert Scrubber().text("a" * 11) == DROPPED


@pytest.mark.parametrize("path", sorted(LOKI.rglob("incident*.json")), ids=lambda path: path.name)
def test_lokis_incidents_lose_no_step(path: Path) -> None:
    incident = json.loads(path.read_text(encoding="utf-8"))
    scrubber = Scrubber(texts_to_keep(incident))
    with scrubber.learning():
        scrub_incident(incident, scrubber)
    clean = scrub_incident(incident, scrubber)
    assert list(clean) == list(incident)
    for step, old in zip(clean["replay_trace"], incident["replay_trace"], strict=True):
        assert step == old or (step.pop("scrubbed") and fits_redacted(step["url"], old["url"]) and "url" in old)
    assert "demo-secret-1234" not in json.dumps(clean)


def test_what_a_persona_typed_stays_and_what_a_person_typed_does_not() -> None:
    step = {"kind": "fill", "selector": "#password", "value": "' OR '1'='1"}
    incident = {"persona": "Adversary", "target_url": "http://127.0.0.1:1/", "replay_trace": [step]}
    body = {"password": step["value"]}
    scrubber = learned(body, incident, keep=texts_to_keep(incident))
    assert scrub_incident(incident, scrubber) == incident
    assert scrubber.document(body) == {"password": "[REDACTED]"}
    played = {**incident, "persona": None}
    assert scrub_incident(played, Scrubber(texts_to_keep(played)))["replay_trace"] == [
        {**step, "value": "[REDACTED]", "scrubbed": True}]


def test_faults_that_lost_something_say_so() -> None:
    secret, plain = (base64.b64encode(text).decode() for text in (b'{"token":"abc"}', b'{"error":"x"}'))
    fault = {"fault_type": "status_code", "method": "GET", "url": "http://h/", "content_type": "application/json"}
    bodies = [{**fault, "body": secret}, {**fault, "body": plain}, {**fault, "body": "no base64!"}]
    state = {"fault_type": "type_swap", "key": "auth_token", "original_value": "abc", "injected_value": None}
    incident = {"persona": "Swarm", "browser": "chromium", "state_faults": [state],
                "api_faults": [*bodies, {"fault_type": "delay", "body": {"token": "x"}}]}
    clean = scrub_incident(incident, Scrubber())
    first, second, third, fourth = clean["api_faults"]
    assert base64.b64decode(first["body"]) == b'{"token":"[REDACTED]"}'
    assert [fault.get("scrubbed") for fault in clean["api_faults"]] == [True, None, True, True]
    assert second == incident["api_faults"][1]
    assert base64.b64decode(third["body"]) == DROPPED.encode()
    assert fourth["body"] == {"token": "[REDACTED]"}
    assert clean["state_faults"] == [{**state, "original_value": "[REDACTED]", "scrubbed": True}]


def test_a_page_cannot_make_us_remove_our_own_words() -> None:
    incident = {"persona": "RageClicker", "target_url": "http://127.0.0.1:8801/", "run_id": "run_20261130",
                "failures": [{"kind": "pageerror", "message": "boom"}], "replay_trace": [{"kind": "click"}]}
    scrubber = Scrubber(texts_to_keep(incident))
    with scrubber.learning():
        for word in ("pageerror", "127.0.0.1:8801", "click", "run_20261130"):
            scrubber.header("cookie", f"token={word}")
    assert scrub_incident(incident, scrubber) == incident


@pytest.mark.parametrize("incident", [None, [], {}, {"replay_trace": 5, "target_url": "http://[x/"}, {"replay_trace": [
    None, 1, {"kind": "fill"}], "api_faults": ["x"], "persona": "x"}])
def test_any_incident_is_taken(incident: Any) -> None:
    assert scrub_incident(incident, Scrubber(texts_to_keep(incident))) == incident


@pytest.mark.parametrize(("stored", "seen", "fits"), [
    ("/a?t=[REDACTED]&b=1", "/a?t=xyz&b=1", True), ("/a?t=[REDACTED]&b=1", "/a?t=xyz&b=2", False), ("a", "a", True),
    ("a", "b", False), ("[REDACTED]", "", True), ("a[REDACTED]a", "a", False), ("x[REDACTED]b[REDACTED]", "x.b.", True),
    ("x[REDACTED]b[REDACTED]", "x.c.", False), ("[REDACTED]b[REDACTED]b", "bb", True), ("a[REDACTED]", "ba", False)])
def test_stored_text_is_recognised(stored: str, seen: str, fits: bool) -> None:
    assert fits_redacted(stored, seen) is fits
