"""Waiting for the application, with plain sockets."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

from runner.load.job import LoadJob
from runner.load_driver.client import Client, NoAnswer

_FIRST_PAUSE, _LAST_PAUSE, _CONNECT = 0.01, 0.1, 2.0


class NotReady(Exception):
    """The application did not become ready in its time; the message says what it did instead."""


def wait_ready(job: LoadJob, client: Client) -> None:
    """Return once it answers. With ``hold`` there is no limit until its port takes connections: the controller has one.
    Raises NotReady.
    """
    begun = time.monotonic()
    _connected(job, None if job.hold else begun + job.ready.timeout)
    if job.ready.path is not None:
        _answering(job, client, time.monotonic() + job.ready.timeout if job.hold else begun + job.ready.timeout)


def _connected(job: LoadJob, deadline: float | None) -> None:
    parts = urlsplit(job.target)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = next((at for name, number, at in job.pins if (name, number) == (host, port)), host)
    pause = _FIRST_PAUSE
    while True:
        try:
            socket.create_connection((address, port), _CONNECT).close()
        except OSError:
            if deadline is not None and time.monotonic() >= deadline:
                raise NotReady(f"nothing listens on {host}:{port}") from None
        else:
            return
        time.sleep(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)


def _answering(job: LoadJob, client: Client, deadline: float) -> None:
    pause, last = _FIRST_PAUSE, "nothing"
    while True:
        try:
            status = client.ask("GET", job.target + (job.ready.path or "/"), {}).status
            if status == job.ready.status if job.ready.status is not None else status < 500:
                return
            last = str(status)
        except NoAnswer:
            pass
        if time.monotonic() >= deadline:
            wanted = f"{job.ready.status}" if job.ready.status is not None else "anything below 500"
            raise NotReady(f"{job.ready.path} answered {last}, not {wanted}, for {job.ready.timeout:g} s")
        time.sleep(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)
