"""The log of signals: what was seen on the pages, bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from runner.browser.outcome import Own, Signal, SignalKind

MAX_SIGNALS = 2000
MAX_TEXT = 8 << 10
_MAX_URLS = 4096
_ECHO = "Failed to load resource:"


class SignalLog:
    """Signals in the order in which they came. At most 2000 are kept, each text up to 8 KiB; the rest is counted."""

    def __init__(self, current_step: Callable[[], int], clock_ms: Callable[[], float]) -> None:
        self._current_step = current_step
        self._clock_ms = clock_ms
        self._kept: list[Signal] = []
        self._dropped: Counter[str] = Counter()
        self._failed_urls: set[str] = set()
        self._shown: set[tuple[str, str, str, int | None]] = set()
        self._looked = 0

    def add(self, kind: SignalKind, message: str, *, stack: str = "", method: str = "",  # noqa: PLR0913  its fields
            url: str = "", status: int | None = None, resource: str = "", page: str = "", own: Own = "") -> None:
        """One more signal, at this moment and step."""
        if kind in ("http_error", "failed_request") and len(self._failed_urls) < _MAX_URLS:
            self._failed_urls.add(url)
        if len(self._kept) >= MAX_SIGNALS:
            self._dropped[kind] += 1
            return
        self._kept.append(Signal(kind, self._current_step(), round(self._clock_ms(), 1), _cut(message), _cut(stack),
                                 _cut(method), _cut(url), status, _cut(resource), _cut(page), own=own))

    def lose(self, kind: str, count: int = 1) -> None:
        """``count`` things of this kind were not even looked at."""
        self._dropped[kind] += count

    def fresh(self) -> tuple[int, ...]:
        """Indices of the failures that came since this was last asked, and are unlike all before: worth a picture."""
        found = []
        for index in range(self._looked, len(self._kept)):
            signal = self._kept[index]
            name = (signal.kind, signal.message, signal.url, signal.status)
            if not self._own(signal) and name not in self._shown:
                self._shown.add(name)
                found.append(index)
        self._looked = len(self._kept)
        return tuple(found)

    def picture(self, indices: Iterable[int], name: str) -> None:
        """The screenshot ``name`` shows these signals."""
        for index in indices:
            self._kept[index] = replace(self._kept[index], screenshot=name)

    def signals(self) -> tuple[Signal, ...]:
        """All that was kept, each with its final word on whether it is noise."""
        return tuple(replace(signal, own=self._own(signal)) for signal in self._kept)

    def dropped(self) -> tuple[tuple[str, int], ...]:
        """How many of each kind were not kept."""
        return tuple(sorted(self._dropped.items()))

    def _own(self, signal: Signal) -> Own:
        """The console repeats each failed response. Only where we saw that response is it an echo: a page can write
        such a line itself.
        """
        if signal.own or signal.kind != "console_error" or not signal.message.startswith(_ECHO):
            return signal.own
        if signal.url in self._failed_urls:
            return "console_echo"
        return "favicon" if urlsplit(signal.url).path == "/favicon.ico" else ""


def _cut(text: str) -> str:
    """At most 8 KiB; a lone surrogate, which JSON could carry and UTF-8 cannot, is written as a question mark."""
    return text[:MAX_TEXT].encode("utf-8", "replace")[:MAX_TEXT].decode("utf-8", "ignore")
