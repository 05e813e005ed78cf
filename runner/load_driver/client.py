"""Our own few requests, to an application that may do anything: trickle, never end, redirect, answer with gigabytes."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from runner.load.strictjson import parsed

SECONDS = 5.0
"""For a request as a whole, from the name to the last byte of the answer."""
MAX_BODY = 1 << 20

Pins = tuple[tuple[str, int, str], ...]


class NoAnswer(Exception):
    """There was no usable answer; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. A redirect is one like any other."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Raises NoAnswer for a body that is no JSON, or none that can be kept."""
        try:
            return parsed(self.body)
        except ValueError as error:
            raise NoAnswer(f"the answer is {error}") from None


@dataclass(frozen=True, slots=True)
class Client:
    """``pins`` are the only places it goes to; where there are none, there is only loopback. ``headers`` go with every
    request. ``status_only``: for who wants to know whether somebody answers; neither certificates nor bodies are
    looked at.
    """

    pins: Pins = ()
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = field(default_factory=lambda: SECONDS)
    status_only: bool = False
    counted: list[str] = field(default_factory=list)
    """The method of each request that was sent."""

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send one request. Raises NoAnswer."""
        connection = self._connection(url)
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.counted.append(method)
        every = {**dict(self.headers), "Connection": "close", "Accept": "application/json", **headers}
        most = 0 if self.status_only else MAX_BODY
        return _within(self.seconds, connection, lambda: _exchange(connection, (method, target, every, body), most))

    def _connection(self, url: str) -> _Pinned:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            raise NoAnswer("the URL is none") from None
        address = pinned(self.pins, host, port)
        if address is None:
            raise NoAnswer(f"{host}:{port} is not among the places that this run may reach")
        tls = None
        if parts.scheme == "https":
            tls = _context(trusting=self.status_only)
        return _Pinned(host, port, address, self.seconds, tls)


def pinned(pins: Pins, host: str, port: int) -> str | None:
    """The address to go to; ``None``: not there."""
    return next((at for name, number, at in pins if (name, number) == (host, port)), None) if pins else host


class _Pinned(http.client.HTTPConnection):
    """Goes to an address, and speaks to it by its name."""

    def __init__(self, host: str, port: int, address: str, seconds: float, tls: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=seconds)
        self.default_port = 443 if tls is not None else 80  # decides whether the Host header names the port
        self._address = address
        self._tls = tls
        self._line: socket.socket | None = None

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._tls is not None:
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host)
        self._line = self.sock

    def cut(self) -> None:
        """End whatever is going on, from another thread. HTTPConnection forgets its socket once an answer began."""
        if self._line is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._line, socket.SHUT_RDWR)


def _context(*, trusting: bool) -> ssl.SSLContext:
    if trusting:
        return ssl._create_unverified_context()  # noqa: S323, SLF001 - it is asked whether it is there, and not trusted
    return ssl.create_default_context()


def _exchange(connection: _Pinned, request: tuple[str, str, dict[str, str], bytes | None], most: int) -> Answer:
    method, target, headers, body = request
    try:
        connection.request(method, target, body=body, headers=headers)
        with connection.getresponse() as response:
            data = response.read(most + 1) if most else b""
            if len(data) > most:
                raise NoAnswer(f"the answer is larger than {most >> 20} MiB")
            if most and response.length:  # http.client takes an end for the end
                raise NoAnswer("the answer ended before its end")
            return Answer(response.status, data)
    finally:
        connection.close()


def _within(seconds: float, connection: _Pinned, work: Callable[[], Answer]) -> Answer:
    """A time-out of a socket is for each of its waits: who trickles is never late. So another thread does the work."""
    kept: list[Answer | NoAnswer] = []

    def run() -> None:
        try:
            kept.append(work())
        except NoAnswer as error:
            kept.append(error)
        except TimeoutError:
            kept.append(NoAnswer(f"no whole answer within {seconds:g} s"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            kept.append(NoAnswer(f"the request failed: {_words(error)}"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    found = kept[0] if kept else NoAnswer(f"no whole answer within {seconds:g} s")
    connection.cut()
    if isinstance(found, NoAnswer):
        raise found
    return found


def _words(error: Exception) -> str:
    """What failed, without what a server or a variable may have put into the message."""
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
