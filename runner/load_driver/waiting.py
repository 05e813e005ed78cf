"""Waiting for the application."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

from runner.load.job import LoadJob
from runner.load_driver.client import Client, NoAnswer, pinned
from runner.load_driver.stopping import Stop

_FIRST_PAUSE, _LAST_PAUSE, _CONNECT, _ANSWER = 0.01, 0.05, 2.0, 2.0


class NotReady(Exception):
    """The application did not become ready in its time; the message says what it did instead."""


def wait_ready(job: LoadJob, stop: Stop) -> None:
    """Return once it answers. With ``hold`` there is no limit until its port takes connections: the controller has one.
    Raises NotReady.
    """
    begun = time.monotonic()
    _connected(job, None if job.hold else begun + job.ready.timeout, stop)
    if job.ready.path is not None:
        # Where the driver is held its own clock starts with the application's, which is when the port opens.
        _answering(job, time.monotonic() + job.ready.timeout if job.hold else begun + job.ready.timeout, stop)


def _connected(job: LoadJob, deadline: float | None, stop: Stop) -> None:
    parts = urlsplit(job.target)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = pinned(job.pins, host, port)
    pause = _FIRST_PAUSE
    while not stop.asked:
        try:
            if address is not None:
                socket.create_connection((address, port), _CONNECT).close()
                return
        except OSError:
            pass
        if deadline is not None and time.monotonic() >= deadline:
            raise NotReady(f"nothing listens on {host}:{port}")
        stop.pause(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)
    raise NotReady("the run was ended before the application answered")


def _answering(job: LoadJob, deadline: float, stop: Stop) -> None:
    client = Client(job.pins, seconds=_ANSWER, status_only=True)
    pause, last = _FIRST_PAUSE, "nothing"
    while not stop.asked:
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
        stop.pause(pause)
        pause = min(pause * 1.1, _LAST_PAUSE)
    raise NotReady("the run was ended before the application answered")
