"""A trace: the steps that a session took, in the vocabulary of LOKI's ``replay_trace`` (loki-chaos-agent 1.11).

A selector is ``#id`` (CSS-escaped) or a path of ``tag:nth-of-type(n)`` from below the body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Click:
    """``repeat`` clicks, ``delay_ms`` after each. ``force``: without waiting for the element to become clickable."""

    selector: str
    force: bool = True
    repeat: int = 1
    delay_ms: int = 100
    kind: Literal["click"] = "click"


@dataclass(frozen=True, slots=True)
class Fill:
    """Set the value of an input."""

    selector: str
    value: str = ""
    kind: Literal["fill"] = "fill"


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key on an element, or on whatever has the focus."""

    key: str = "Enter"
    selector: str | None = None
    kind: Literal["press"] = "press"


@dataclass(frozen=True, slots=True)
class ForceEnable:
    """Remove ``disabled`` and ``aria-disabled`` from every element that has one."""

    kind: Literal["force_enable_disabled"] = "force_enable_disabled"


@dataclass(frozen=True, slots=True)
class TamperHidden:
    """Remove ``readonly``; set hidden and read-only inputs to a marker."""

    kind: Literal["tamper_hidden"] = "tamper_hidden"


@dataclass(frozen=True, slots=True)
class Offline:
    """Cut the network off, or restore it."""

    value: bool
    kind: Literal["offline"] = "offline"


@dataclass(frozen=True, slots=True)
class Throttle:
    """Slow the network down: latency, and LOKI's 50 KiB/s down and 20 KiB/s up."""

    latency_ms: int = 1200
    kind: Literal["throttle"] = "throttle"


@dataclass(frozen=True, slots=True)
class ApiFaultStep:
    """A request was answered by a fault here. What is done is in the job's ``api_faults``; the step marks the place."""

    fault_type: str = ""
    url: str = ""
    status: int | None = None
    kind: Literal["api_fault"] = "api_fault"


@dataclass(frozen=True, slots=True)
class StateFaultStep:
    """The page's state is corrupted here: the k-th such step of a trace carries out the k-th of its state faults."""

    fault_type: str
    target: str = ""
    details: str = ""
    kind: Literal["state_fault"] = "state_fault"


@dataclass(frozen=True, slots=True)
class CookieEviction:
    """Clear all cookies. ``cleared_count`` is how many there were."""

    cleared_count: int = 0
    kind: Literal["cookie_eviction"] = "cookie_eviction"


@dataclass(frozen=True, slots=True)
class UiFreezeStep:
    """The page was seen blank or frozen here; playing it looks again."""

    type: str = ""
    reason: str = ""
    kind: Literal["ui_freeze"] = "ui_freeze"


Step = (Click | Fill | Press | ForceEnable | TamperHidden | Offline | Throttle | ApiFaultStep | StateFaultStep
        | CookieEviction | UiFreezeStep)


def is_burst(step: Step) -> bool:
    """Whether a step is several clicks. LOKI writes one down before it clicks, and all other actions once they worked,
    so that of a burst alone it is not known whether it had any effect.
    """
    return isinstance(step, Click) and step.repeat > 1


STEPS: dict[str, type[Step]] = {
    "click": Click, "fill": Fill, "press": Press, "force_enable_disabled": ForceEnable,
    "tamper_hidden": TamperHidden, "offline": Offline, "throttle": Throttle, "api_fault": ApiFaultStep,
    "state_fault": StateFaultStep, "cookie_eviction": CookieEviction, "ui_freeze": UiFreezeStep,
}
"""The class of each ``kind``."""
