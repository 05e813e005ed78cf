"""Waiting for the application under test, with plain sockets."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from runner.browser.job import Job, Ready

_FIRST_PAUSE, _LAST_PAUSE = 0.01, 0.1
_ANSWER = 2.0


class NotReady(Exception):
    """The application did not become ready in its time; the message says what it did instead."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the application is."""

    host: str
    port: int
    secure: bool

    @classmethod
    def of(cls, url: str) -> Place:
        """Of an http or https URL. Raises ValueError for another."""
        parts: SplitResult = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not an http or https URL: {url[:200]}")
        secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if secure else 80), secure)

    def authority(self) -> str:
        """For the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


async def wait_ready(job: Job) -> None:
    """Return once the application answers. With ``hold`` there is no limit until its port takes connections. Raises
    NotReady.
    """
    place = Place.of(job.url)
    ready = job.ready
    begun = time.monotonic()
    await _connected(place, None if job.hold else begun + ready.timeout)
    if ready.path is not None:
        # Where the driver is held its own clock starts with the application's, which is when the port opens.
        await _answering(place, ready, time.monotonic() + ready.timeout if job.hold else begun + ready.timeout)
    if job.reset is not None:
        status = await _ask(place, "POST", job.reset, max(_ANSWER, ready.timeout))
        if status is None or status >= 400:
            answer = "did not answer" if status is None else f"answered {status}"
            raise NotReady(f"the reset at {job.reset} {answer}")


async def _connected(place: Place, deadline: float | None) -> None:
    pause = _FIRST_PAUSE
    while True:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(place.host, place.port), _ANSWER)
        except (OSError, TimeoutError):
            if deadline is not None and time.monotonic() >= deadline:
                raise NotReady(f"nothing listens on {place.authority()}") from None
        else:
            writer.close()
            return
        await asyncio.sleep(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)


async def _answering(place: Place, ready: Ready, deadline: float) -> None:
    path, pause, last = ready.path or "/", _FIRST_PAUSE, "nothing"
    while True:
        status = await _ask(place, "GET", path, _ANSWER)
        if status is not None and (status == ready.status if ready.status is not None else status < 500):
            return
        last = last if status is None else str(status)
        if time.monotonic() >= deadline:
            wanted = f"{ready.status}" if ready.status is not None else "anything below 500"
            raise NotReady(f"{path} answered {last}, not {wanted}, for {ready.timeout:g} s")
        await asyncio.sleep(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)


async def _ask(place: Place, method: str, path: str, seconds: float) -> int | None:
    """The status of the answer, or ``None``: no answer, or not one of HTTP."""
    try:
        return await asyncio.wait_for(_status(place, method, path), seconds)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None


async def _status(place: Place, method: str, path: str) -> int:
    context = ssl._create_unverified_context() if place.secure else None  # noqa: S323, SLF001 - it is asked, not trusted
    reader, writer = await asyncio.open_connection(place.host, place.port, ssl=context, limit=1 << 16)
    try:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {place.authority()}", "Connection: close", "Accept: */*"]
        lines += ["Content-Length: 0"] if method == "POST" else []
        writer.write("\r\n".join([*lines, "", ""]).encode("ascii", "replace"))
        line = await reader.readuntil(b"\n")
        version, code = line.split(None, 2)[:2]
        if not version.startswith(b"HTTP/"):
            raise ValueError("not HTTP")
        return int(code)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await asyncio.wait_for(writer.wait_closed(), 1)
