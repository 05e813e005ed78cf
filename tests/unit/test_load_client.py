"""Our own requests, to applications that trickle, flood, redirect, close, or answer with what nobody can read."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from itertools import count

import pytest
from load_servers import application, plain

from runner.load_driver.client import MAX_BODY, Client, NoAnswer


def endless(line: socket.socket, _: str) -> None:
    """Ten gigabytes are announced, and sent for as long as somebody reads."""
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
    for _number in count():
        line.sendall(b"x" * 65536)


def trickle(start: bytes) -> Callable[[socket.socket, str], None]:
    """A byte every 20 ms, for ever."""
    def answer(line: socket.socket, _: str) -> None:
        line.sendall(start)
        line.settimeout(0.02)
        while True:
            line.sendall(b"1")
            try:
                if not line.recv(1):
                    return
            except TimeoutError:
                continue
    return answer


def silent(line: socket.socket, _: str) -> None:
    line.recv(1)


def said_of(answer: bytes | Callable[[socket.socket, str], object], seconds: float = 5.0) -> str:
    with application(answer) as app, pytest.raises(NoAnswer) as caught:
        Client(seconds=seconds).ask("GET", f"{app.url}/x", {}).json()
    return str(caught.value)


@pytest.mark.parametrize("answer", [
    silent, trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n"), trickle(b"HTTP/1.1 200 OK\r\nX: "),
    trickle(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5000\r\n"), trickle(b"HT"),
    trickle(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n")])
def test_a_request_has_one_clock_for_all_of_it(answer: Callable[[socket.socket, str], object]) -> None:
    begun = time.monotonic()
    assert said_of(answer, 0.3) == "no whole answer within 0.3 s"
    assert time.monotonic() - begun < 2


def test_nobody_is_left_waiting_for_an_application_that_trickles() -> None:
    before = threading.active_count()
    with application(trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")) as app:
        with pytest.raises(NoAnswer):
            Client(seconds=0.2).ask("GET", app.url, {})
        deadline = time.monotonic() + 5
        while threading.active_count() > before + 1 and time.monotonic() < deadline:  # one serves
            time.sleep(0.01)
        assert threading.active_count() <= before + 1


def test_an_answer_that_is_cut_is_none() -> None:
    assert said_of(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12") == "the answer ended before its end"


def test_ten_gigabytes_end_after_one_megabyte() -> None:
    assert said_of(endless) == "the answer is larger than 1 MiB"


def test_a_body_of_exactly_the_limit_is_read() -> None:
    body = b'"' + b"x" * (MAX_BODY - 2) + b'"'
    with application(plain(200, body)) as app:
        assert len(Client().ask("GET", app.url, {}).json()) == MAX_BODY - 2
    assert "larger" in said_of(plain(200, body + b" "))


@pytest.mark.parametrize(("body", "words"), [
    ("", "no JSON"), ("<h1>", "no JSON"), ("NaN", "no JSON"), ("[1e999]", "no JSON"), ("9" * 5000, "no JSON"),
    ("[" * 101 + "]" * 101, "nested deeper than 100"),
    ("[" * 200_000, "nested deeper than 100"),
    ('{"a":' * 200_000, "nested deeper than 100"), ("\xff\xfe", "no JSON")])
def test_what_is_no_json_or_cannot_be_kept_is_no_answer(body: str, words: str) -> None:
    assert said_of(plain(200, body.encode("latin-1"))) == f"the answer is {words}"


@pytest.mark.parametrize("answer", [
    b"", b"HTTP/1.1", b"nonsense\r\n\r\n",
    b"HTTP/1.1 999999 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nab"])
def test_what_is_no_http_is_no_answer_and_says_nothing_of_itself(answer: bytes) -> None:
    said = said_of(answer)
    assert said.startswith("the request failed: ")
    assert "nonsense" not in said
    assert "\n" not in said


@pytest.mark.parametrize("body", ["[" * 100 + "1" + "]" * 100, "1", '"x"', "{}"])
def test_nesting_up_to_the_limit_is_read(body: str) -> None:
    with application(plain(200, body)) as app:
        assert json.dumps(Client().ask("GET", app.url, {}).json()) == body


def test_a_redirect_is_not_followed() -> None:
    with application(plain(500)) as other, application(plain(302, b"", f"Location: {other.url}/")) as app:
        assert Client().ask("GET", app.url, {}).status == 302
        assert other.requests == []


def test_a_refused_connection_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(NoAnswer, match="the request failed: Connection refused"):
        Client().ask("GET", f"http://127.0.0.1:{port}/", {})


def test_it_goes_where_it_is_pinned_and_nowhere_else() -> None:
    with application(plain(200, "1")) as app:
        client = Client(pins=(("shop.test", app.port, "127.0.0.1"),))
        assert client.ask("GET", f"http://shop.test:{app.port}/a?b=c", {"X-A": "b"}).json() == 1
        assert app.lines() == ["GET /a?b=c"]
        assert f"Host: shop.test:{app.port}\r\n" in app.requests[0]
        for elsewhere in (f"http://127.0.0.1:{app.port}/", "http://shop.test/", f"http://other.test:{app.port}/"):
            with pytest.raises(NoAnswer, match="is not among the places"):
                client.ask("GET", elsewhere, {})
        assert client.counted == ["GET"]


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\u2028"])
def test_a_header_cannot_be_broken_out_of(value: str) -> None:
    with application(plain(200, "1")) as app:
        with pytest.raises(NoAnswer, match=r"^the request failed: [A-Za-z]+$"):
            Client().ask("GET", app.url, {"Authorization": value})
        assert "X-Evil" not in "".join(app.requests)


def test_for_who_only_asks_whether_somebody_is_there_a_page_may_be_large() -> None:
    with application(endless) as app:
        assert Client(status_only=True).ask("GET", app.url, {}).status == 200
