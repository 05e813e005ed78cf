"""The stable name of a failure: the same bug has the same one in every run, and two bugs have two.

How it is made, by kind of signal (all words are normalised as :mod:`runner.incidents.normalise` says):

- ``pageerror``: the message without the error's class, and the top three frames of the application's code, each
  ``function path`` without origin, line and column: those change with every edit elsewhere in a file. An unhandled
  rejection is a page error too: an ``async`` function that throws is one bug, and browsers report it as both.
- ``http_error``: method, URL pattern, status. ``failed_request``: method, URL pattern, the browser's error.
- ``resource_failure``: the resource's kind and URL pattern. ``navigation_error``: URL pattern, status and message.
- ``ui_freeze``: a blank or frozen page is one, whatever it shows. ``layout``: the message without the measured widths.
  The others: the message.

A race (``race``) is named by method and URL pattern of the request that succeeded more often than it may.
Counts, times, steps, lanes and screenshots are no part of a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from runner.browser.outcome import Signal
from runner.errors import printable
from runner.incidents.normalise import normal_message, normal_path, normal_url

MOST_FRAMES = 3
_MOST_LINES = 60

_CLASS = re.compile(r"Uncaught (?:\(in promise\) ?)?|(?:[A-Za-z_$][\w$]{0,60})?(?:Error|Exception)(?: \[\w{1,60}\])?: ")
_CHROMIUM = re.compile(r"\s+at (?:async )?(?:(?P<function>.{1,300}?) \()?(?P<url>https?://[^\s()]{1,2048}?)(?::\d+){0,2}\)?$")
_GECKO = re.compile(r"^(?:async\*)?(?P<function>[^@\s]{0,300})@(?P<url>https?://\S{1,2048}?)(?::\d+){0,2}$")
_DIALOG = re.compile(r"(?:Unexpected )?(\w+) dialog: '?(.*?)'?$", re.DOTALL)
_PIXELS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?px\b|\{n\}px\b")
"""How wide a page is hangs on the fonts of the machine."""
_TAGS = {"image": "img", "stylesheet": "link"}
"""Elements by what they load, as LOKI names them."""
_ALIAS = re.compile(r" \[as [^\]]{1,100}\]")


@dataclass(frozen=True, slots=True)
class Identity:
    """A failure's name. ``kind`` is a signal's kind or ``race``; what a kind does not have is empty."""

    kind: str
    message: str = ""
    frames: tuple[str, ...] = ()
    method: str = ""
    url: str = ""
    status: int | None = None

    @property
    def key(self) -> str:
        """All of it on one printable line."""
        status = "" if self.status is None else str(self.status)
        place = " ".join(part for part in (self.method, self.url, status) if part)
        frames = f" at {' < '.join(self.frames)}" if self.frames else ""
        parts = [part for part in (place, self.message) if part]
        return printable(f"{self.kind}: {': '.join(parts)}{frames}" if parts or frames else self.kind)

    @property
    def id(self) -> str:
        """Twelve hex digits of the key's SHA-256."""
        return sha256(self.key.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def identity_of(signal: Signal) -> Identity:
    """The name of what a signal tells of."""
    url = normal_url(signal.url)
    message = normal_message(signal.message)
    match signal.kind:
        case "pageerror" | "unhandled_rejection":
            return error_identity(signal.message, signal.stack)
        case "http_error":
            found = Identity("http_error", method=signal.method, url=url, status=signal.status)
        case "failed_request":
            found = Identity("failed_request", message, method=signal.method, url=url)
        case "resource_failure":
            resource = signal.resource.lower()
            found = Identity("resource_failure", _TAGS.get(resource, resource), url=url)
        case "navigation_error":
            found = Identity("navigation_error", message, url=url, status=signal.status)
        case "dialog":
            words = _DIALOG.match(signal.message)
            found = Identity("dialog", normal_message(" ".join(words.groups())) if words else message)
        case "ui_freeze":
            found = Identity("ui_freeze")
        case "layout":
            found = Identity("layout", _PIXELS.sub("{n}px", message))
        case _:
            found = Identity(signal.kind, message)
    return found


def is_grave(identity: Identity) -> bool:
    """Whether no application means it so: an error that nothing caught, a server error, a race, a blank or frozen page.

    The others may be on purpose (an answer of 401 before a log-in, 422 to nonsense, a line on the console, a dialog),
    in the repaired application too.
    """
    if identity.kind == "http_error":
        return identity.status is None or identity.status >= 500
    return identity.kind in ("pageerror", "race", "ui_freeze")


def error_identity(message: str, stack: str = "") -> Identity:
    """The name of an error that nothing caught."""
    return Identity("pageerror", normal_message(_without_class(message)), frames_of(stack))


def race_identity(method: str, url: str) -> Identity:
    """The name of a race for a request's effect."""
    return Identity("race", method=method, url=normal_url(url))


def fits(recorded: Identity, seen: Identity) -> bool:
    """Whether what was seen is what was recorded.

    What the recording lacks is not compared: LOKI keeps no method of a failed response and no stack of a page error.
    Of the frames the topmost decides: the same line is reached on several ways.
    """
    if recorded.kind != seen.kind:
        return False
    if recorded.frames and seen.frames and recorded.frames[0] != seen.frames[0]:
        return False
    pairs = ((recorded.message, seen.message), (recorded.method, seen.method), (recorded.url, seen.url),
             (recorded.status, seen.status))
    return all(mine in ("", None) or mine == theirs for mine, theirs in pairs)


def frames_of(stack: str) -> tuple[str, ...]:
    """The top frames that lie in code with a URL, topmost first: what the browser itself or a tool put in has none."""
    frames: list[str] = []
    for line in stack.splitlines()[:_MOST_LINES]:
        found = _CHROMIUM.match(line[:4096]) or _GECKO.match(line[:4096])
        if found is None:
            continue
        function = _ALIAS.sub("", found["function"] or "").removeprefix("async ").removeprefix("Object.").strip()
        frames.append(f"{normal_message(function) or '<anonymous>'} {normal_path(_path(found['url']))}")
        if len(frames) == MOST_FRAMES:
            break
    return tuple(frames)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return "?"


def _without_class(message: str) -> str:
    """``TypeError: x`` as ``x``: a page error's message comes without its class, a rejection's stack with it."""
    first = message.strip()
    while found := _CLASS.match(first):
        first = first[found.end():]
    return first
