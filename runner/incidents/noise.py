"""What looks like trouble and is none of the application's: one table of rules, shown with everything they took out.

The same rules hold for a session as it is recorded and for its replays. Faults that a session put in are no findings;
what the application makes of them is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.browser.faults import ApiFault, StateFault
from runner.browser.outcome import Outcome, Signal
from runner.browser.trace import CookieEviction, Offline, Step
from runner.incidents.identity import error_identity
from runner.incidents.normalise import LOOPBACK, normal_url

ECHO = "echo"
"""The rule whose signals are signs of the application's failures all the same."""
_ANSWERS = frozenset({"http_error", "failed_request"})
_REQUESTS = _ANSWERS | {"resource_failure"}
_QUOTA = re.compile(r"QuotaExceeded|exceeded the quota|quota (?:has been )?exceeded", re.IGNORECASE)
_CUT_OFF = re.compile(r"ERR_ABORTED|NS_BINDING_ABORTED|NS_ERROR_ABORT|\bcancell?ed\b", re.IGNORECASE)
_OFFLINE = re.compile(r"ERR_INTERNET_DISCONNECTED|NS_ERROR_OFFLINE|internet connection appears to be offline",
                      re.IGNORECASE)
_NO_NETWORK = re.compile(r"ERR_(?:INTERNET_DISCONNECTED|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE|NETWORK_)|NS_ERROR_"
                         r"(?:OFFLINE|UNKNOWN_HOST|NET_)|ERR_(?:PROXY_|CONNECTION_REFUSED|DNS_)")
_REPEATING = re.compile(r"Failed to load resource: |\[?JavaScript Error: |Uncaught (?:\(in promise\) )?\w*Error\b")
_BROWSER_PAGE = re.compile(r"chrome-error:|about:neterror|about:crash")
_REFUSALS = frozenset({401, 403, 419, 440})
_SPOILED = frozenset({"token_invalidation", "token_corruption", "401_unauthorized", "403_forbidden",
                      "cookie_eviction"})


class Session:
    """What the rules look at besides a signal: everything that the session did to the application.

    ``timed``: signals and faults know the step that they belong to. Otherwise what was done once holds for all.
    ``raced``: lanes ran side by side, so that all but one are rightly refused.
    """

    def __init__(self, trace: Sequence[Step] = (), api_faults: Sequence[ApiFault] = (),
                 state_faults: Sequence[StateFault] = (), signals: Sequence[Signal] = (), *, timed: bool = True,
                 raced: bool = False) -> None:
        self._timed = timed
        self.raced = raced
        self._offline = _steps_offline(trace)
        self._spoiled_from = min((*(index for index, step in enumerate(trace) if isinstance(step, CookieEviction)),
                                  *(fault.step for fault in api_faults if fault.fault_type in _SPOILED)), default=None)
        self._requests = {normal_url(signal.url) for signal in signals if signal.kind in _ANSWERS}
        errors = [signal for signal in signals if signal.kind in ("pageerror", "unhandled_rejection")]
        self._errors = {error_identity(signal.message).message for signal in errors}
        self._steps_of_errors = {signal.step for signal in errors}
        self.quota_is_full = any(fault.fault_type == "quota_exceeded" for fault in state_faults)

    def asked(self, url: str) -> bool:
        """Whether a request of this URL failed or was answered by an error."""
        return normal_url(url) in self._requests

    def threw(self, message: str) -> bool:
        """Whether a page threw an error with this message."""
        return error_identity(message).message in self._errors

    def threw_at(self, step: int) -> bool:
        """Whether a page threw anything during this step."""
        return self._timed and step in self._steps_of_errors

    def spoiled_at(self, step: int) -> bool:
        """Whether cookies or credentials had been taken away by this step, by a step or by a fault."""
        return self._spoiled_from is not None and (not self._timed or self._spoiled_from <= step)

    def offline_at(self, step: int) -> bool:
        """Whether the session had cut the network off in this step, or restored it just then."""
        return step in self._offline if self._timed else bool(self._offline)


def _steps_offline(trace: Sequence[Step]) -> frozenset[int]:
    steps, down = set(), False
    for index, step in enumerate(trace):
        was, down = down, step.value if isinstance(step, Offline) else down
        if was or down:
            steps.add(index)
    return frozenset(steps)


def session_of(outcome: Outcome) -> Session:
    """What the rules need to know of a session that a driver played."""
    return Session(outcome.trace, outcome.api_faults, outcome.state_faults, outcome.signals,
                   raced=bool(outcome.lanes))


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of noise. ``why`` completes "this is no failure of the application: …"."""

    name: str
    why: str
    applies: Callable[[Signal, Session], bool]


def _favicon(signal: Signal, _: Session) -> bool:
    return signal.own == "favicon" or (signal.kind in _REQUESTS and _path(signal.url).endswith("/favicon.ico"))


def _quota(signal: Signal, session: Session) -> bool:
    return (signal.kind in ("pageerror", "unhandled_rejection", "console_error") and session.quota_is_full
            and _QUOTA.search(f"{signal.message}\n{signal.stack[:200]}") is not None)


def _offline(signal: Signal, session: Session) -> bool:
    if not session.offline_at(signal.step):
        return False
    match signal.kind:
        case "navigation_error":
            return _BROWSER_PAGE.search(f"{signal.url} {signal.message}") is not None
        case "failed_request":
            return _OFFLINE.search(signal.message) is not None
        case kind:
            return kind == "resource_failure"


def _credentials(signal: Signal, session: Session) -> bool:
    return signal.kind == "http_error" and signal.status in _REFUSALS and session.spoiled_at(signal.step)


def _aborted(signal: Signal, _: Session) -> bool:
    return signal.kind == "failed_request" and _CUT_OFF.search(signal.message) is not None


def _no_network(signal: Signal, _: Session) -> bool:
    host, page = _host(signal.url), _host(signal.page)
    if not host or host in LOOPBACK or (page and page not in LOOPBACK):
        return False
    return signal.kind == "resource_failure" or (signal.kind == "failed_request"
                                                 and _NO_NETWORK.search(signal.message) is not None)


def _refused(signal: Signal, session: Session) -> bool:
    return session.raced and signal.kind == "http_error" and signal.status is not None and signal.status < 500


def _echo(signal: Signal, session: Session) -> bool:
    if signal.own == "console_echo":
        return True
    match signal.kind:
        case "console_error":
            return _REPEATING.match(signal.message) is not None or session.threw(signal.message)
        case "resource_failure" | "navigation_error":
            return bool(signal.url) and session.asked(signal.url)
        case "ui_freeze":
            return session.threw_at(signal.step)
        case _:
            return False


RULES = (
    Rule("favicon", "browsers ask for an icon by themselves", _favicon),
    Rule("injected", "the session itself made up this answer or error", lambda signal, _: signal.own == "injected"),
    Rule("quota", "the session made storage throw this error", _quota),
    Rule("offline", "the session had cut the network off", _offline),
    Rule("credentials", "the session had taken cookies or credentials away, and the application noticed", _credentials),
    Rule("navigation", "the session's own navigation cut this off", lambda signal, _: signal.own == "navigation"),
    Rule("closing", "the end of the session cut this off", lambda signal, _: signal.own == "closing"),
    Rule("aborted", "the page, or a navigation, gave this request up", _aborted),
    Rule("no_network", "there is no network beyond the application", _no_network),
    Rule("refused", "of lanes that race, all but one are to be refused", _refused),
    Rule(ECHO, "it repeats another failure that is listed", _echo),
)
"""In the order in which they are asked."""


def noise_rule(signal: Signal, session: Session) -> Rule | None:
    """The first rule that takes a signal for noise; ``None`` for a failure of the application."""
    return next((rule for rule in RULES if rule.applies(signal, session)), None)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
