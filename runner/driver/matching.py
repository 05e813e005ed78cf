"""Finding the request that a recorded fault belongs to: by method, URL and occurrence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runner.browser.faults import ApiFault

COOKIES_METHOD, COOKIES_URL = "COOKIE", "document.cookies"
"""How an eviction of cookies that belongs to no request is written down."""
_REDACTED = re.compile(re.escape("[REDACTED]") + "|%5BREDACTED%5D", re.IGNORECASE)


def plain_url(url: str) -> str:
    """A URL as a server sees it: without the fragment."""
    return url.partition("#")[0]


def pattern_source(url: str) -> str:
    """A pattern for this URL with any fragment, which Python and JavaScript read alike. Where a secret was cut out of
    a recording, any value stands in its place.
    """
    return "^" + "[^&#/]*".join(re.escape(part) for part in _REDACTED.split(plain_url(url))) + "(?:#.*)?$"


class Target:
    """The recorded faults of one method and URL, and how many such requests there have been."""

    def __init__(self, method: str, url: str) -> None:
        self.method = method
        self.source = pattern_source(url)
        self.seen = 0
        self.waiting: list[ApiFault] = []
        self._pattern = re.compile(self.source)

    def matches(self, method: str, url: str) -> bool:
        """Whether a request is one of these."""
        return method == self.method and self._pattern.match(url) is not None

    def due(self, step: int) -> ApiFault | None:
        """The fault for the request counted last, taken away. A fault for exactly this occurrence goes before one
        that takes whatever comes after its step has begun.
        """
        exact = (fault for fault in self.waiting if fault.occurrence == self.seen)
        open_ones = (fault for fault in self.waiting if fault.occurrence == 0 and fault.from_step <= step)
        found = next(exact, None) or next(open_ones, None)
        if found is not None:
            self.waiting.remove(found)
        return found


class Targets:
    """All recorded faults that wait for their requests. URLs as they are go before those with a secret cut out."""

    def __init__(self, faults: Iterable[ApiFault]) -> None:
        found: dict[tuple[str, str], Target] = {}
        for fault in faults:
            key = (fault.method.upper(), plain_url(fault.url))
            found.setdefault(key, Target(*key)).waiting.append(fault)
        self._all = tuple(found[key] for key in sorted(found, key=lambda key: (bool(_REDACTED.search(key[1])), key)))

    @property
    def waiting(self) -> tuple[ApiFault, ...]:
        """Faults whose request has not come."""
        return tuple(fault for target in self._all for fault in target.waiting)

    def pattern(self) -> re.Pattern[str] | None:
        """Matches every URL that must be looked at; ``None`` without faults."""
        sources = sorted({target.source for target in self._all})
        return re.compile("|".join(sources)) if sources else None

    def take(self, method: str, url: str, step: int) -> tuple[ApiFault, int] | None:
        """Count one request, and give the fault that is for it with its occurrence, if there is one."""
        matching = [target for target in self._all if target.matches(method, url)]
        for target in matching:
            target.seen += 1
        for target in matching:
            fault = target.due(step)
            if fault is not None:
                return fault, target.seen
        return None
