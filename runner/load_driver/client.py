"""Our own few requests, to an application that may do anything: trickle, never end, redirect, answer with gigabytes."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

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
        """Raises NoAnswer for a body that is no JSON."""
        try:
            return json.loads(self.body, parse_constant=_refused)
        except (ValueError, RecursionError):
            raise NoAnswer("the answer is no JSON") from None


@dataclass(frozen=True, slots=True)
class Client:
    """``pins`` are the only places it goes to; where there are none, there is only loopback. ``headers`` go with every
    request.
    """

    pins: Pins = ()
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = SECONDS
    counted: list[str] = field(default_factory=list)
    """The method of each request that was sent."""

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send one request. Raises NoAnswer."""
        connection = self._connection(url)
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.counted.append(method)
        every = {**dict(self.headers), "Connection": "close", "Accept": "application/json", **headers}
        return _within(self.seconds, connection, lambda: _exchange(connection, method, target, every, body))

    def _connection(self, url: str) -> http.client.HTTPConnection:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        host, port = parts.hostname or "", parts.port or (443 if secure else 80)
        address = host
        if self.pins:
            found = [at for name, number, at in self.pins if (name, number) == (host, port)]
            if not found:
                raise NoAnswer(f"{host}:{port} is not among the places that this run may reach")
            address = found[0]
        return _Pinned(host, port, address, self.seconds, ssl.create_default_context() if secure else None)


class _Pinned(http.client.HTTPConnection):
    """Goes to an address, and speaks to it by its name."""

    def __init__(self, host: str, port: int, address: str, seconds: float, tls: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address = address
        self._tls = tls

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._tls is not None:
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self.host)


def _exchange(connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str],
              body: bytes | None) -> Answer:
    connection.request(method, target, body=body, headers=dict(headers))
    response = connection.getresponse()
    data = response.read(MAX_BODY + 1)
    if len(data) > MAX_BODY:
        raise NoAnswer(f"the answer is larger than {MAX_BODY >> 20} MiB")
    return Answer(response.status, data)


def _within(seconds: float, connection: http.client.HTTPConnection, work: Callable[[], Answer]) -> Answer:
    """A time-out of a socket is for each of its waits: who trickles is never late. So another thread waits for all."""
    kept: list[Answer | NoAnswer] = []

    def run() -> None:
        try:
            kept.append(work())
        except NoAnswer as error:
            kept.append(error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            kept.append(NoAnswer(f"the request failed: {type(error).__name__}"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    if not kept:
        raise NoAnswer(f"no whole answer within {seconds:g} s")
    if isinstance(kept[0], NoAnswer):
        raise kept[0]
    return kept[0]


def _refused(text: str) -> None:
    raise ValueError(text)
