"""The job that plays an incident again, and the incident moved to where the application is now."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

from runner.browser.job import Job, Outputs, Ready
from runner.browser.outcome import Lane
from runner.incidents.model import Failure, Incident
from runner.incidents.normalise import normal_url


def job_of(incident: Incident, outputs: Outputs) -> Job:
    """Plays the incident's trace, or its race."""
    own = incident.own.target if incident.own is not None else None
    return Job(
        mode="play" if incident.race is None else "race", url=incident.target_url, pace=incident.pace,
        browser=incident.browser, seed=incident.seed or 0, device=incident.device, landscape=incident.landscape,
        ready=own.ready if own is not None else Ready(), reset=own.reset if own is not None else None,
        trace=incident.trace, api_faults=incident.api_faults, state_faults=incident.state_faults,
        race=incident.race, outputs=outputs)


def moved(incident: Incident, url: str) -> Incident:
    """The same incident of an application that has another origin now: the faults' requests, what the lanes asked for,
    and the URLs in the failures' names move with it.
    """
    old, new = _origin(incident.target_url), _origin(url)
    if old == new:
        return replace(incident, target_url=url)
    before, after = normal_url(old).rstrip("/"), normal_url(new).rstrip("/")
    return replace(
        incident, target_url=url,
        api_faults=tuple(replace(fault, url=_moved(fault.url, old, new)) for fault in incident.api_faults),
        lanes=tuple(_moved_lane(lane, old, new) for lane in incident.lanes),
        failures=tuple(_moved_failure(failure, before, after) for failure in incident.failures))


def _moved_lane(lane: Lane, old: str, new: str) -> Lane:
    return replace(lane, responses=tuple(replace(each, url=_moved(each.url, old, new)) for each in lane.responses))


def _moved_failure(failure: Failure, old: str, new: str) -> Failure:
    identity = failure.identity
    message = re.sub(re.escape(old) + r"(?![\w.:-])", lambda _: new, identity.message)
    return replace(failure, identity=replace(identity, url=_moved(identity.url, old, new), message=message))


def _moved(url: str, old: str, new: str) -> str:
    rest = url[len(old):]
    return new + rest if url.startswith(old) and rest[:1] in ("", "/", "?", "#") else url


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
