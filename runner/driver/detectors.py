"""What watches the pages: attached to a context before its first navigation, for all its pages."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Dialog, Error, Frame, Page, Request, Response, WebError

from runner.browser.outcome import Own
from runner.driver.guard import attempt
from runner.driver.signals import SignalLog
from runner.driver.traffic import Traffic

MAX_PAGES = 20
MAX_CONSOLE = 1000
"""Console lines looked at in one step; then the console is not listened to until the next step begins."""
_REFUSED = "Not allowed to load local resource: "
_ALLOWED = ("http", "https", "about", "data", "blob", "")


class Detectors:
    """Listens to one context and writes its log. ``injected`` says whether an answer was made up by us, ``poisoned``
    whether an error's text is one that our own state faults throw. ``stays``: on a page that asks whether one wants to
    leave it, as LOKI does, whose traces go on there.
    """

    def __init__(self, signals: SignalLog, traffic: Traffic, *, injected: Callable[[Request], bool],
                 poisoned: Callable[[str], bool], leaving: Callable[[], bool], stays: bool = False) -> None:
        self._signals = signals
        self._traffic = traffic
        self._injected = injected
        self._poisoned = poisoned
        self._leaving = leaving
        self._stays = stays
        self._rejections: deque[tuple[str, ...]] = deque(maxlen=500)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._context: BrowserContext | None = None
        self._console_left = MAX_CONSOLE
        self._resources: set[tuple[str, str]] = set()
        self.crashed = ""
        """Why the session's first page cannot go on, once it cannot."""
        self.uncontrolled: set[str] = set()

    def attach(self, context: BrowserContext) -> None:
        """Listen from now on."""
        self._context = context
        context.on("weberror", self._page_error)
        context.on("console", self._console)
        context.on("request", self._traffic.begun)
        context.on("requestfinished", self._traffic.ended)
        context.on("requestfailed", self._request_failed)
        context.on("response", self._response)
        context.on("dialog", self._dialog)
        context.on("page", self._page)
        context.on("serviceworker", lambda _: self.uncontrolled.add("service worker"))

    def next_step(self) -> None:
        """A step begins: the console is listened to again."""
        if self._console_left <= 0 and self._context is not None:
            self._context.on("console", self._console)
        self._console_left = MAX_CONSOLE

    def reported(self, words: list[str]) -> None:
        """What our script inside a page says."""
        match words:
            case ["rejection", *texts]:
                self._rejections.append(tuple(text.strip()[:1024] for text in texts if text))
            case ["resource", tag, url]:
                self.resource_failed(tag, url, f"Failed to load <{tag.upper()}> resource: {url}")

    def resource_failed(self, tag: str, url: str, message: str) -> None:
        """A part of the page did not load; told once per URL."""
        if (tag, url) in self._resources:
            return
        if len(self._resources) < 4096:
            self._resources.add((tag, url))
        self._signals.add("resource_failure", message, url=url, resource=tag,
                          own="favicon" if urlsplit(url).path == "/favicon.ico" else "")

    def _page_error(self, event: WebError) -> None:
        error, page = event.error, _url_of(event.page)
        stack, message = error.stack or "", error.message
        own: Own = "injected" if self._poisoned(message) else ""
        rejected = self._rejected(stack, message)
        if rejected is None:
            self._signals.add("pageerror", message, stack=stack, page=page, own=own)
            return
        names = [message]
        if not stack and rejected[:1] in ("{", "["):
            # Of an object that is no error the browser tells the class alone, which is no name for a failure.
            names.insert(len(rejected) == len("{}"), rejected)
        self._signals.add("unhandled_rejection", names[0], stack=stack, page=page, own=own)
        for other in names[1:]:
            self._signals.add("unhandled_rejection", other, page=page, own=own or "console_echo")

    def _rejected(self, stack: str, message: str) -> str | None:
        """The page's script tells of each rejection just before the browser reports it like any other error, in words
        of which one is the browser's. One that the page then handles is never reported, and its words wait in vain.
        The last word of a rejection, which is its reason as JSON if it is no error; ``None`` for other errors.
        """
        words = {stack.strip()[:1024], message.strip()[:1024]} - {""}
        for texts in self._rejections:
            if words.intersection(texts):
                self._rejections.remove(texts)
                return texts[-1]
        return None

    def _console(self, message: ConsoleMessage) -> None:
        self._console_left -= 1
        if self._console_left <= 0:
            # A page that floods its console would keep the driver busy with lines and nothing else.
            if self._context is not None:
                self._context.remove_listener("console", self._console)
            self._signals.lose("console")
            return
        if message.type != "error":
            return
        text, url = message.text, str(message.location.get("url") or "")
        if text.startswith(_REFUSED):
            self._signals.add("navigation_error", text, url=text.removeprefix(_REFUSED))
        else:
            self._signals.add("console_error", text, url=url, page=_url_of(message.page))

    def _response(self, response: Response) -> None:
        self._traffic.answered(response)
        if response.status < 400:
            return
        request = response.request
        reason = f" ({response.status_text})" if response.status_text else ""
        self._signals.add("http_error", f"HTTP {response.status}{reason} on {response.url}", method=request.method,
                          url=response.url, status=response.status, resource=request.resource_type,
                          own="injected" if self._injected(request) else _favicon(request.url))

    def _request_failed(self, request: Request) -> None:
        failure = request.failure or "failed"
        own: Own = _favicon(request.url)
        if self._leaving():
            own = "closing"
        elif self._injected(request):
            own = "injected"
        elif "ABORTED" in failure and self._traffic.cut_off(request):
            own = "navigation"
        self._traffic.ended(request)
        self._signals.add("failed_request", failure, method=request.method, url=request.url,
                          resource=request.resource_type, own=own)

    def _dialog(self, dialog: Dialog) -> None:
        # A page that asks whether one wants to leave it is left, as a user who clicked on would.
        leave = dialog.type == "beforeunload" and not self._stays
        self._signals.add("dialog", f"Unexpected {dialog.type} dialog: '{dialog.message}'", page=_url_of(dialog.page),
                          resource=dialog.type, own="navigation" if leave else "")
        self._spawn(attempt(5, dialog.accept() if leave else dialog.dismiss()))

    def _page(self, page: Page) -> None:
        first = self._context is not None and len(self._context.pages) <= 1
        page.on("framenavigated", self._navigated)
        page.on("crash", lambda _: self._crash(page, first))
        if self._context is not None and len(self._context.pages) > MAX_PAGES:
            self._signals.lose("page")
            self._spawn(attempt(5, page.close()))

    def _crash(self, page: Page, first: bool) -> None:
        if first:
            self.crashed = "the renderer of the page crashed"
        else:
            self._signals.add("navigation_error", "the renderer of another page crashed", url=_url_of(page))

    def _navigated(self, frame: Frame) -> None:
        self._traffic.arrived(frame)
        if frame.parent_frame is not None:
            return
        url = frame.url
        if url.startswith("chrome-error://") or "about:neterror" in url:
            self._signals.add("navigation_error", f"Navigated to browser error page: {url}", url=url)
        elif urlsplit(url).scheme not in _ALLOWED:
            self._signals.add("navigation_error", f"navigated to {url}", url=url)
            self._spawn(attempt(5, frame.goto("about:blank")))

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _favicon(url: str) -> Own:
    return "favicon" if urlsplit(url).path == "/favicon.ico" else ""


def _url_of(page: Page | None) -> str:
    try:
        return page.url if page is not None else ""
    except Error:
        return ""
