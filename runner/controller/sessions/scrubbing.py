"""Everything that a session leaves behind goes through one scrubber, and what cannot be scrubbed is not kept. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from runner.browser.outcome import Outcome
from runner.browser.trace import Fill
from runner.incidents.outcomes import parse_outcome
from runner.scrub.har import Unscrubbable, scrub_har_file
from runner.scrub.incident import scrub_incident, texts_to_keep
from runner.scrub.scrubber import Scrubber
from runner.scrub.tracezip import learn_trace, scrub_trace

HAR, TRACE, DOM, VIDEO = "network.har", "trace.zip", "dom.html", "replay.webm"
_SAID = ("actions", "detail", "lanes", "signals", "steps", "uncontrolled")
MOST = 16 << 20
"""Bytes of one file. A page decides how much it makes a browser record, and a second of this host's time goes into each
MiB: what is larger is not worth it.
"""
_SHOWN = (".png", ".webm")
"""Pixels cannot be scrubbed; docs/scrubbing.md says so."""


def scrub_session(incident: dict[str, Any], files: Mapping[str, bytes]) -> tuple[dict[str, Any], dict[str, bytes],
                                                                                tuple[str, ...]]:
    """The incident's document and the files without secrets, and a note for each file that was dropped."""
    scrubber = Scrubber(keep=texts_to_keep(incident))
    with scrubber.learning():
        scrub_incident(incident, scrubber)
        for name in sorted(files):
            _scrubbed(name, files[name], scrubber, learning=True)
    clean: dict[str, bytes] = {}
    notes: list[str] = []
    for name in sorted(files):
        data = _scrubbed(name, files[name], scrubber, learning=False)
        if data is None:
            large = f": more than {MOST >> 20} MiB" if len(files[name]) > MOST else ""
            notes.append(f"{name} could not be scrubbed, and was not kept{large}")
        else:
            clean[name] = data
    return scrub_incident(incident, scrubber), clean, tuple(notes)


def scrub_outcome(outcome: Outcome, url: str) -> Outcome:
    """What a replay's driver said, without secrets: it is judged and kept in this form. Raises NoVerdict.

    Trace and faults are the incident's own, which were scrubbed when it was recorded.
    """
    typed = (step.value for step in outcome.trace if isinstance(step, Fill))
    scrubber = Scrubber(keep=(*texts_to_keep({"target_url": url}), *typed))
    document = asdict(outcome)
    said = {name: document[name] for name in _SAID}
    with scrubber.learning():
        scrubber.document(said)
    return parse_outcome(json.dumps({**document, **scrubber.document(said)}).encode())


def _scrubbed(name: str, data: bytes, scrubber: Scrubber, *, learning: bool) -> bytes | None:
    if name.endswith(_SHOWN):
        return data
    if len(data) > MOST:
        return None
    try:
        return _clean(name, data, scrubber, learning=learning)
    except Unscrubbable:
        return None


def _clean(name: str, data: bytes, scrubber: Scrubber, *, learning: bool) -> bytes | None:
    if name == HAR:
        return scrub_har_file(data, scrubber)
    if name == TRACE and not learning:
        return scrub_trace(data, scrubber)
    if name == TRACE:
        learn_trace(data, scrubber)
        return data
    return scrubber.data(data, "text/html") if name == DOM else None
