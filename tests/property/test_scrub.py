"""Secrets planted in every place of a run: none is left in any form, and what is no secret is as it was.

The secret is told by one place (a header, a cookie, a field, …) and stands in all the others too, as itself, escaped
and in base64.
"""

from __future__ import annotations

import base64
import html
import io
import json
import string
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runner.browser.redacted import REDACTED
from runner.scrub import assigned
from runner.scrub.forms import forms
from runner.scrub.har import scrub_har
from runner.scrub.incident import scrub_incident, texts_to_keep
from runner.scrub.known import Known
from runner.scrub.scrubber import Scrubber
from runner.scrub.tracezip import learn_trace, scrub_trace

SIGNS = string.ascii_letters + string.digits + "-._~+/=%&?#@!$'\"<>\\ ;:,é☃"
SECRETS = st.text(SIGNS, min_size=10, max_size=40).map(lambda text: f"Zx9{text.strip()}7q")
"""Neither a word nor trivial; whatever else a password may hold."""

Tell = Callable[[str], dict[str, Any]]


def entry(request: Any = None, response: Any = None, **more: Any) -> dict[str, Any]:
    return {"request": {"method": "GET", "url": "http://h/", **(request or {})}, "response": response or {}, **more}


def header(name: str, value: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value}]


def multipart(secret: str) -> str:
    return ('--B\r\nContent-Disposition: form-data; name="password"\r\n\r\n' + secret
            + '\r\n--B\r\nContent-Disposition: form-data; name="note"\r\n\r\nkept\r\n--B--\r\n')


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


TELLS: dict[str, Tell] = {
    "request header": lambda s: entry({"headers": header("X-Api-Key", s)}),
    "authorization": lambda s: entry({"headers": header("authorization", f"Bearer {s}")}),
    "basic": lambda s: entry({"headers": header("authorization", "Basic " + encoded(f"bob:{s}"))}),
    "response header": lambda s: entry(None, {"headers": header("x-auth-token", s)}),
    "cookies": lambda s: entry({"cookies": header("prefs", s)}),
    "cookie header": lambda s: entry({"headers": header("Cookie", f"a=b; sid={quote(s)}")}),
    "set-cookie": lambda s: entry(None, {"headers": header("Set-Cookie", f"sid={quote(s)}; Path=/")}),
    "url": lambda s: entry({"url": f"http://h/a?x=1&token={quote(s)}&y=2"}),
    "fragment": lambda s: entry({"url": f"http://h/a#access_token={quote_plus(s)}"}),
    "userinfo": lambda s: entry({"url": f"http://bob:{quote(s, safe='')}@h/"}),
    "nested url": lambda s: entry({"url": "http://h/?to=" + quote(f"http://i/?api_key={quote(s, safe='')}", safe="")}),
    "queryString": lambda s: entry({"queryString": header("session_token", s)}),
    "json": lambda s: entry({"postData": {"mimeType": "application/json", "text": json.dumps({"a": {"password": s}})}}),
    "json, cut off": lambda s: entry(None, {"content": {"text": json.dumps({"token": s, "x": [1]})[:-2]}}),
    "json in json": lambda s: entry(None, {"content": {"text": json.dumps({"b": json.dumps({"secret": s})})}}),
    "form": lambda s: entry({"postData": {"mimeType": "application/x-www-form-urlencoded",
                                          "text": f"user=bob&pw={quote_plus(s)}"}}),
    "params": lambda s: entry({"postData": {"mimeType": "x/y", "params": header("password", s)}}),
    "multipart": lambda s: entry({"postData": {"mimeType": "multipart/form-data; boundary=B", "text": multipart(s)}}),
    "base64": lambda s: entry(None, {"content": {"mimeType": "application/json", "encoding": "base64", "size": 1,
                                                 "text": encoded(json.dumps({"access_token": s}))}}),
    "referer": lambda s: entry({"headers": header("Referer", f"http://h/?token={quote(s)}")}),
    "location": lambda s: entry(None, {"headers": header("Location", f"/cb?id_token={quote(s)}")}),
    "redirectURL": lambda s: entry(None, {"redirectURL": f"http://h/?jwt={quote(s)}"}),
    "websocket": lambda s: entry(_webSocketMessages=[{"opcode": 1, "data": json.dumps({"token": s})}]),
    "binary websocket": lambda s: entry(_webSocketMessages=[{"opcode": 2, "data": encoded(json.dumps({"token": s}))}]),
    "password input": lambda s: entry(None, {"content": {
        "mimeType": "text/html", "text": f'<input type="password" name="k" value="{html.escape(s)}">'}}),
    "hidden input": lambda s: entry(None, {"content": {
        "mimeType": "text/html", "text": f"<p>x<input value='{html.escape(s)}' name=csrf_token>"}}),
}


def everywhere(secret: str) -> dict[str, str]:
    """The secret in each place that does not tell that it is one."""
    return {"as it is": f"refused: {secret} (it was wrong)", "in a URL": f"http://h/p/{quote(secret, safe='')}/q",
            "in a query": f"http://h/?q={quote_plus(secret)}", "in JSON": json.dumps({"note": f"x {secret} y"}),
            "in JSON twice": json.dumps({"note": json.dumps([f"x {secret} y"])}),
            "in markup": f'<p title="{html.escape(secret)}">{html.escape(secret)}</p>',
            "in base64": encoded(f"ab {secret} c"), "in a stack": f"Error: {secret}\n    at f (http://h/app.js:1:2)"}


def run_of(tell: Tell, secret: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """A HAR, an incident and a trace that hold the secret in every place, while one entry of the HAR tells it."""
    texts = everywhere(secret)
    bodies = [entry({"url": text if text.startswith("http") else "http://h/"}, {"content": {
        "text": text, "mimeType": kind}}) for text in texts.values()
        for kind in ("text/plain", "text/html", "application/json")]
    har = {"log": {"pages": [{"title": secret, "comment": secret}], "entries": [*bodies, tell(secret)]}}
    incident = {"persona": "Swarm", "target_url": "http://h/", "crashes": list(texts.values()), "actions_taken": [
        f"typed {secret}"], "failures": [{"stack": texts["in a stack"], "url": texts["in a URL"]}],
        "replay_trace": [{"kind": "press", "selector": "#a", "key": "Enter"}],
        "api_faults": [{"url": texts["in a query"], "content_type": "text/plain", "body": encoded(secret)}],
        "state_faults": [{"key": "cart", "original_value": texts["in JSON"]}], secret: 1}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("trace.trace", "\n".join(json.dumps(line) for line in (
            {"type": "console", "text": texts["as it is"]}, {"snapshot": {"html": ["P", {"title": secret}, secret]}},
            {"type": "before", "params": {"selector": "#a", "value": secret}}, *texts.items())))
        archive.writestr("trace.network", json.dumps({"type": "resource-snapshot", "snapshot": tell(secret)}))
        archive.writestr("resources/" + "a" * 40 + ".html", texts["in markup"])
        archive.writestr("resources/b.json", texts["in JSON twice"])
    return har, incident, sink.getvalue()


def all_scrubbed(har: Any, incident: Any, trace: bytes) -> tuple[Any, Any, bytes]:
    scrubber = Scrubber(texts_to_keep(incident))
    with scrubber.learning():
        scrub_har(har, scrubber)
        scrub_incident(incident, scrubber)
        learn_trace(trace, scrubber)
    return scrub_har(har, scrubber), scrub_incident(incident, scrubber), scrub_trace(trace, scrubber)


def strings(value: Any) -> list[str]:
    """Every string of a document, keys too, and what those in base64 say."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in strings(item)]
    if not isinstance(value, str):
        return []
    try:
        return [value, base64.b64decode(value, validate=True).decode()]
    except ValueError:
        return [value]


def left(secret: str, *documents: Any) -> list[str]:
    """Texts in which a form of the secret, or half of it, still stands."""
    looked_for = {*forms(secret), secret[:max(8, len(secret) // 2)], secret[-max(8, len(secret) // 2):]}
    return [text for text in strings(list(documents)) if any(form in text for form in looked_for)]


def unpacked(trace: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(trace)) as archive:
        return [part for name in archive.namelist() for part in (name, *archive.read(name).decode().split("\n"))]


@pytest.mark.parametrize("place", TELLS)
@settings(max_examples=5)
@given(secret=SECRETS)
@example(secret="Zx9 a&b=c%2F\"d'<e>\\f7q")
def test_nothing_of_a_secret_is_left_anywhere(place: str, secret: str) -> None:
    har, incident, trace = all_scrubbed(*run_of(TELLS[place], secret))
    assert left(secret, har, incident, unpacked(trace)) == []
    assert REDACTED in json.dumps(har)


@pytest.mark.parametrize("place", ["json", "cookies", "url"])
@settings(max_examples=8)
@given(secret=SECRETS)
def test_scrubbing_again_changes_nothing(place: str, secret: str) -> None:
    har, incident, trace = all_scrubbed(*run_of(TELLS[place], secret))
    again = all_scrubbed(har, incident, trace)
    assert again[:2] == (har, incident)
    assert unpacked(again[2]) == unpacked(trace)


WORDS = st.sampled_from(["author", "discard", "cardinality", "the secretary", "passenger 7", "{", "}", "[1, 2]", "a=b",
                         "x: y", "<p class='c'>", "</p>", "\\n", "é☃", "http://h/a?b=c#d", "0x1F", "1.50", "--", "'",
                         '"', "\n", "\t", "function (a) { return a.b; }", "TypeError", "&amp;", "%20", "1700000000000"])
PLAIN = st.lists(WORDS, max_size=12).map(" ".join)


@given(before=PLAIN, after=PLAIN)
def test_what_is_no_secret_survives_byte_for_byte(before: str, after: str) -> None:
    scrubber = Scrubber()
    scrubber.learn("Zx9-planted-7q")
    assert scrubber.text(f"{before} Zx9-planted-7q {after}") == f"{before} {REDACTED} {after}"
    assert scrubber.data(f"{before}\n{after}".encode()) == f"{before}\n{after}".encode()
    har = {"log": {"entries": [entry({"postData": {"text": before}}, {"content": {"text": after}})]}}
    assert scrub_har(har, scrubber) == har


KINDS = st.sampled_from(["", "text/html", "application/json", "multipart/x; boundary=a", "text/plain; charset=utf-16",
                         "application/x-www-form-urlencoded"])


@given(raw=st.binary(max_size=200), kind=KINDS)
def test_any_body_is_taken_and_scrubbing_it_again_changes_nothing(raw: bytes, kind: str) -> None:
    once = Scrubber().data(raw, kind)
    assert Scrubber().data(once, kind) == once


HOSTILE = ('token:"', "token:'x\\\"", "<a ", "<password>", "?token=a", "token=", "token: ", '("token",', "http://",
           '{"token":[', "token", "-", " = ", "<input type=password value=", '\\"token\\":\\"', "`token`:`")


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_grows_with_the_text_only(piece: str) -> None:
    """Counted, not timed: names that are asked about, and characters that were taken for values."""
    work = []
    for times in (200, 1600):
        asked = 0

        def secret(name: str) -> bool:
            nonlocal asked
            asked += len(name) + 1
            return "token" in name or "password" in name
        text = piece * times
        found = [*assigned.quoted(text, secret), *assigned.bare(text, secret), *assigned.markup(text, secret, str)]
        work.append(asked + sum(one.end - one.start for one in found))
    assert work[1] <= 9 * work[0] + 100


@given(st.lists(st.text("ab", min_size=6, max_size=30), max_size=30), st.text("ab", max_size=400))
def test_known_values_are_found_wherever_they_stand(values: list[str], text: str) -> None:
    known = Known()
    for value in values:
        known.add(f"{value}1")
    text = text.replace("ba", "1")
    spans = set(known.spans(text))
    for value in values:
        at = text.find(f"{value}1")
        assert at < 0 or known.dropped or (at, at + len(value) + 1) in spans
