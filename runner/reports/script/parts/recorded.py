"""What was recorded, compared with what is seen now: by the stable name of each failure, never by any error at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from runner.browser.outcome import Signal
from runner.incidents.failures import sort_signals
from runner.incidents.identity import Identity, fits
from runner.incidents.noise import Session
from runner.incidents.normalise import normal_url
from runner.reports.script.parts.base import INCIDENT, CouldNotRun, Finding, Options, Report


def recorded_identities(options: Options) -> list[tuple[str, Identity]]:
    """The recorded failures, as they are named on the application that is tried now. Raises CouldNotRun for none."""
    old, new = normal_url(INCIDENT["url"]), normal_url(options.url)
    origin = re.compile(re.escape("/".join(old.split("/")[:3])) + r"(?![\w:])")
    here = "/".join(new.split("/")[:3])
    failures = [(failure["name"], _moved(failure, origin, here)) for failure in INCIDENT["failures"]]
    if not failures:
        raise CouldNotRun("no failure was recorded, so there is none to look for")
    return failures


def _moved(failure: dict[str, Any], origin: re.Pattern[str], here: str) -> Identity:
    return Identity(kind=failure["kind"], message=origin.sub(lambda _: here, failure["message"]),
                    frames=tuple(failure["frames"]), method=failure["method"],
                    url=origin.sub(lambda _: here, failure["url"]), status=failure["status"])


def compare(recorded: Sequence[tuple[str, Identity]], signals: Sequence[Signal], session: Session,
            notes: Sequence[str] = ()) -> Report:
    """Count the failures that were recorded, and name the others; noise is left out by the rules of the recording."""
    found = sort_signals(signals, session)
    findings = tuple(Finding(name, sum(one.count for one in found.failures if fits(wanted, one.identity)))
                     for name, wanted in recorded)
    others = tuple(one.identity.key for one in found.failures
                   if not any(fits(wanted, one.identity) for _, wanted in recorded))
    noise = [f"not counted ({one.rule}): {one.count}x, first {one.first}" for one in found.noise]
    return Report(findings, others, (*notes, *noise))
