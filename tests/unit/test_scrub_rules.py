"""Which names and values are secret, and in how many forms a value is found."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from runner.scrub import known as known_module
from runner.scrub.forms import forms
from runner.scrub.known import FULL, Known
from runner.scrub.patterns import is_card, shaped_spans
from runner.scrub.rules import is_learnable, is_secret_group, is_secret_name
from runner.scrub.scrubber import Scrubber

SECRET = """authorization cookie set-cookie proxy-authorization x-api-key apikey api-key x-auth-token x-csrf-token
    x-xsrf-token token secret session api_key auth password passwd pwd jwt access_token refreshToken idToken cvv cvc
    card creditCard credit_card privateKey credential passcode pin ssn social_security JSESSIONID PHPSESSID connect.sid
    csrfmiddlewaretoken authenticity_token APIKey XSRF-TOKEN newPassword userpassword token2 X-Amz-Signature sig pw pass
    cardNumber session_id clientSecret #password input[name="password"]"""
HARMLESS = """author authors authority :authority discard cardinality secretary passenger compass bypass keyboard monkey
    pinned spinner username design tokenType token_count sessionDuration password_error xsrfCookieName key code state
    broken cookieConsentVersion card_title expires_in content-type etag x-request-id passed"""


@pytest.mark.parametrize("name", SECRET.split())
def test_a_name_of_a_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_a_name_that_only_looks_like_one(name: str) -> None:
    assert not is_secret_name(name)


def test_what_holds_secrets_and_what_is_one() -> None:
    assert is_secret_group("credentials")
    assert not is_secret_group("session")
    assert not is_secret_group("author")
    assert not is_secret_group("")


@pytest.mark.parametrize(("value", "learned"), [
    ("short", False), ("sixsix", True), ("Password", False), ("[REDACTED]", False), ("x[REDACTED]y", False),
    ("hunter22", True)])
def test_what_is_looked_for_everywhere(value: str, learned: bool) -> None:
    assert is_learnable(value) is learned


@pytest.mark.parametrize(("digits", "card"), [
    (b"4111111111111111", True), (b"5555555555554444", True), (b"378282246310005", True), (b"4222222222222", True),
    (b"6011111111111117", True), (b"4111111111111112", False), (b"1700000000000", False), (b"0000000000000000", False)])
def test_card_numbers_by_issuer_and_check_digit(digits: bytes, card: bool) -> None:
    assert is_card(digits) is card


@pytest.mark.parametrize("text", [
    "4111 1111 1111 1111", "3782-822463-10005", "sk-abcdefghij0123456789", "ghp_" + "a1" * 20, "AIza" + "b" * 35,
    "Bearer abcdefgh1", "Basic dXNlcjpwYXNz", "AKIA" + "A1" * 8, "xoxb-1234567890", "é https://u:p4ss@h/",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXNpZw", "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END"])
def test_what_its_own_shape_gives_away(text: str) -> None:
    spans = shaped_spans(text)
    assert spans
    assert all(text[start:end].strip() for start, end in spans)


@pytest.mark.parametrize("text", [
    "sk-loading-spinner-container-wide", "1.4111111111111111", "x4111111111111111", "a basic understanding",
    "2026-11-30T08:17:27.891995", "basic authentication"])
def test_what_has_no_such_shape(text: str) -> None:
    assert shaped_spans(text) == []


@pytest.mark.parametrize("value", ["plain-secret-1", "a b&c=d/é\"'<>\\?", "tök€n-☃-7"])
def test_every_usual_form_is_among_the_forms(value: str) -> None:
    found = forms(value)
    twice = json.dumps(json.dumps(value)[1:-1])[1:-1]
    assert found[0] == value
    for form in (quote(value, safe=""), quote(value), quote_plus(value), html.escape(value), json.dumps(value)[1:-1],
                 json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="").lower(), twice):
        assert form in found or form.lower() in {one.lower() for one in found}


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_base64_is_seen_through_wherever_the_value_begins(before: int, after: int) -> None:
    known = Known()
    known.add("secret-value-1")
    text = base64.b64encode(b"u" * before + b"secret-value-1" + b"w" * after).decode()
    covered = max(end - start for start, end in known.spans(text))
    assert covered >= 16


@pytest.mark.parametrize(("text", "stays"), [
    ("sunflowers", True), ("a sunflower", False), ("sunflower7", False), ("Esunflower", True), ("%3Asunflower", False),
    ("\\nsunflower", False), ("\\u003asunflower,", False)])
def test_a_word_counts_only_where_it_stands_alone(text: str, stays: bool) -> None:
    scrubber = Scrubber()
    scrubber.learn("sunflower", "482913")
    assert (scrubber.text(text) == text) is stays


@pytest.mark.parametrize(("text", "stays"), [("14829130", True), ("x482913", False), ("%20482913", False)])
def test_a_number_counts_only_where_it_stands_alone(text: str, stays: bool) -> None:
    scrubber = Scrubber()
    scrubber.learn("482913")
    assert (scrubber.text(text) == text) is stays


def test_a_long_value_is_found_piece_by_piece() -> None:
    value = "".join(f"{at:05d}x" for at in range(2000))
    scrubber = Scrubber()
    scrubber.learn(value)
    assert scrubber.text(f"<{value}>") == "<[REDACTED]>"


def test_what_is_kept_is_not_learned() -> None:
    scrubber = Scrubber(keep=("http://127.0.0.1:8801/",))
    scrubber.learn("127.0.0.1:8801", "other-value-1")
    assert scrubber.text("127.0.0.1:8801 other-value-1") == "127.0.0.1:8801 [REDACTED]"


def test_values_beyond_the_cap_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_module, "MOST_VALUES", 10)
    known = Known()
    for number in range(13):
        known.add(f"v{number:07d}")
    assert (len(known), known.dropped) == (10, 3)


def test_the_places_looked_at_grow_with_the_text_only() -> None:
    """Counted, not timed: values that share all their beginnings are filed so that few are compared at a place."""
    for values in (4, 400):
        known = Known()
        for number in range(values):
            known.add("a" * (40 + number))
        assert max(map(len, known._grams.values())) <= FULL
        looked = []
        for size in (1 << 9, 1 << 12):
            known.looked = 0
            list(known.spans("a" * size))
            looked.append(known.looked)
        assert looked[1] <= 9 * looked[0]
        assert looked[1] <= 1 << 12
