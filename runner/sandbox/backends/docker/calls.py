"""Telling of every engine call to the logger ``runner.engine``: what, how it went, how long it took.

Neither queries nor bodies are told: they hold names and settings of a stranger's making. Environment values of a
workload are in neither; they go over its stdin.
"""

from __future__ import annotations

import logging
import re
from typing import Any
from urllib.parse import urlsplit

import docker
import requests

from runner.errors import printable

LOGGER = logging.getLogger("runner.engine")
_NOISE = ((re.compile(r"^/v\d+\.\d+(?=/)"), ""), (re.compile(r"(?<=/)(sha256:)?[0-9a-f]{12,64}(?=/|$)"), "<id>"),
          (re.compile(r"(?<=/runner-)[0-9a-f]{8,}(?=-)"), "<id>"))
_LONGEST_PATH = 120


def tell_calls(api: docker.APIClient) -> docker.APIClient:
    """The same client, whose calls are told from now on."""
    api.hooks["response"].append(_told)
    return api


def _told(response: requests.Response, *_: Any, **__: Any) -> None:
    """A call took until its answer began; what streams after that is not counted."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        LOGGER.debug("%-6s %3d %7.1f ms  %s", response.request.method, response.status_code,
                     response.elapsed.total_seconds() * 1000, call_path(str(response.request.url)))


def call_path(url: str) -> str:
    """The path of a call, without the API's version and without ids, so that equal calls look alike."""
    path = urlsplit(url).path
    for pattern, stands_for in _NOISE:
        path = pattern.sub(stands_for, path)
    return printable(path[:_LONGEST_PATH])
