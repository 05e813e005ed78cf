"""Which requests of a chaos session are answered by a fault, and by which. Kinds and odds are those of LOKI 1.11.

A draw depends on the seed and on the request alone (method, URL, occurrence), so that requests which overlap in
time cannot change one another's fate.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.browser.faults import ApiFaultType
from runner.browser.job import Chaos

IGNORED_EXTENSIONS = ("js", "css", "png", "jpg", "jpeg", "gif", "svg", "woff", "woff2", "ttf", "eot", "ico", "map",
                      "html")
ROUTED = re.compile(r"^https?:\/\/(?![^?#]*\.(?:" + "|".join(IGNORED_EXTENSIONS) + r")(?:[?#]|$))")
"""URLs that can be faulted at all. Read by Python and by JavaScript, so it keeps to what both understand."""
AUTH_RATE = 0.4
DELAY_RANGE_MS = (1500, 3500)
STATUS_CODES = (500, 502, 503, 504)
CREDENTIAL_HEADERS = frozenset({
    "authorization", "cookie", "proxy-authorization", "x-api-key", "apikey", "api-key", "x-auth-token",
    "x-csrf-token", "x-xsrf-token", "token", "secret", "session"})

_API_PATH = re.compile(r"/(?:api|graphql|v[123]|rest|services)(?:/|$)|\.json")
_STREAMS = frozenset({"eventsource", "websocket", "media"})
_GENERAL: tuple[ApiFaultType, ...] = ("status_code", "corrupt_json", "schema_strip", "delay", "empty_response")
_AUTH: tuple[ApiFaultType, ...] = ("token_invalidation", "token_corruption", "401_unauthorized", "403_forbidden",
                                   "cookie_eviction")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as far as the odds look at it. ``headers`` have lower-case names."""

    method: str
    url: str
    resource: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered in the application's place."""

    status: int
    body: bytes
    content_type: str = "application/json"


def eligible(asked: Asked) -> bool:
    """Whether faults concern this request: what scripts ask for, and whatever looks like an API; never a stream,
    which could not be read to its end.
    """
    if not ROUTED.match(asked.url) or asked.resource in _STREAMS:
        return False
    if "text/event-stream" in asked.headers.get("accept", ""):
        return False
    return asked.resource in ("fetch", "xhr") or _API_PATH.search(urlsplit(asked.url).path) is not None


def generator(seed: int, asked: Asked, occurrence: int) -> random.Random:
    """The source of every draw about one request."""
    return random.Random(f"{seed}\n{asked.method}\n{asked.url}\n{occurrence}")  # noqa: S311 (draws, not secrets)


def draw(rng: random.Random, chaos: Chaos, asked: Asked) -> ApiFaultType | None:
    """The fault for an eligible request, if any: first the odds of a request with credentials, then those of all."""
    if chaos.auth_chaos and credentials(asked.headers) and rng.random() < AUTH_RATE:
        return rng.choice(_AUTH)
    if chaos.api_chaos and rng.random() <= chaos.fault_rate:
        return rng.choice(_GENERAL)
    return None


def credentials(headers: dict[str, str]) -> tuple[str, ...]:
    """Names of the headers that carry credentials."""
    return tuple(sorted(name for name in headers if name in CREDENTIAL_HEADERS))


def spoiled(fault_type: ApiFaultType, headers: dict[str, str]) -> dict[str, str]:
    """The headers with credentials taken out (``token_invalidation``) or made worthless (``token_corruption``)."""
    names = credentials(headers)
    if fault_type == "token_invalidation":
        return {name: value for name, value in headers.items() if name not in names}
    return {name: ("Bearer invalid" if name == "authorization" else "invalid") if name in names else value
            for name, value in headers.items()}


def made_up(fault_type: ApiFaultType, rng: random.Random) -> Answer:
    """The answer of a fault that does not ask the application."""
    match fault_type:
        case "empty_response":
            return Answer(200, b"{}")
        case "401_unauthorized":
            return refusal(401)
        case "403_forbidden":
            return refusal(403)
        case _:
            status = rng.choice(STATUS_CODES)
            return Answer(status, _json({"error": "injected fault", "status": status,
                                         "message": f"HTTP {status} in the application's place"}))


def refusal(status: int) -> Answer:
    """An answer as to a request whose credentials have expired."""
    return Answer(status, _json({"error": "injected fault", "code": "AUTH_TOKEN_EXPIRED", "status": status}))


def _json(document: dict[str, object]) -> bytes:
    return json.dumps(document).encode()
