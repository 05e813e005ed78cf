"""Observations and fixtures, from their documents: what was asked of the application, made and removed."""

from __future__ import annotations

from collections.abc import Iterator

from runner.errors import ReportError
from runner.reports.html.load.values import at, listed, parts, short_json
from runner.reports.html.session.view import Grid
from runner.reports.html.words import seconds
from runner.sources.jsontext import parse_json

OBSERVATION_FILE, FIXTURE_FILE = "observation.json", "fixture.json"
_MAX_BYTES = 4 << 20
_MOST = 200


def observations_of(raw: bytes) -> Grid:
    """A row for each pointer that was compared. LiteTraffic's file holds one document, or a list of them."""
    found = _parsed(raw)
    documents = [parts(one) for one in (listed(found) if isinstance(found, list) else [found] if found else [])]
    rows = [row for document in documents for row in _looked(document)]
    return Grid("What the application's final state was asked for",
                ("Assertion", "Outcome", "Pointer", "Expected", "Seen", "Why, or how long"), tuple(rows[:_MOST]),
                max(0, len(rows) - _MOST))


def _looked(document: dict[str, object]) -> Iterator[tuple[str, ...]]:
    name, status = (short_json(document.get(key, "")) for key in ("assertion", "status"))
    tries, passed = at(document, "attempts"), at(document, "elapsed_seconds")
    polled = "" if tries is None else f"{tries:.0f} tries" + ("" if passed is None else f" in {seconds(passed)}")
    checks = parts(document.get("checks"))
    if not checks:
        yield name, status, "", "", "", short_json(document.get("reason", polled))
    for pointer, each in checks.items():
        check = parts(each)
        outcome = "holds" if check.get("pass") is True else "differs"
        yield (name, outcome, pointer or "the whole document", short_json(check.get("matcher")),
               short_json(check["actual"]) if "actual" in check else "nothing", short_json(check.get("reason", polled)))


def fixture_of(raw: bytes) -> Grid:
    """What was made before the load and removed after it, step by step."""
    rows = [(step, short_json(name), short_json(value))
            for step, found in parts(_parsed(raw)).items() for name, value in parts(found).items()]
    return Grid("Fixtures: what was made and removed", ("Step", "What", "Value"), tuple(rows[:_MOST]),
                max(0, len(rows) - _MOST))


def _parsed(raw: bytes) -> object:
    try:
        return parse_json(raw).value if 0 < len(raw) <= _MAX_BYTES else None
    except ReportError:
        return None
