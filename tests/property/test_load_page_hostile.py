"""Whatever scenario, script and application write: the page of a load run parses and holds only our markup."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from export_validators import CHECKS
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_loads import FIXTURE, JOURNEYS, METRICS, OBSERVATIONS, make_load
from stored_loads import TIMELINE as LONG
from strict_html import problems, text_of
from test_exports_hold import texts
from test_html_hostile import KEPT, hostile_text, poisoned
from test_session_exports_hold import FIXED

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.result import Result
from runner.reports.formats import FORMATS
from runner.reports.html import render_html
from runner.reports.text import render_text

STEPS = 6
TIMELINE = {name: value[:STEPS] if isinstance(value, list) else value for name, value in LONG.items()} | {
    "operations": {name: {share: values[:STEPS] for share, values in rows.items()}
                   for name, rows in LONG["operations"].items()}}
"""Few steps: what is hostile does not get worse by many."""
OURS = {"mode": "verify", "lifecycle": "finished", "completeness": "incomplete"}
"""Fields with words that the schema fixes."""
DIGESTS = ("scenario_fingerprint", "scenario_sha256")
NAMES = ("timeline.json", "observation.json", "fixture.json", "engine.stdout.log", "engine.stderr.log")
TEXTS = st.one_of(hostile_text, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
NUMBERS = st.one_of(st.integers(), st.floats(), st.none(), st.booleans(), hostile_text, st.just([]), st.just({}))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Evidence whose files a test may rewrite."""
    return make_load(tmp_path_factory.mktemp("hostile"))


def _renamed(value: Any, text: str) -> Any:
    """The same document with every name and every text in it replaced; names are numbered, so that none is lost."""
    if isinstance(value, dict):
        return {f"{text}{number}": _renamed(inner, text) for number, inner in enumerate(value.values())}
    if isinstance(value, list):
        return [_renamed(inner, text) for inner in value]
    return text if isinstance(value, str) else value


def _page(evidence: Evidence, files: dict[str, bytes], **fields: Any) -> str:
    """The page, with other files in the run directory."""
    load = evidence.result.load
    assert load is not None
    for name, data in files.items():
        (evidence.directory / name).write_bytes(data)
    records = tuple(record.model_copy(update=_digest(files[record.name])) if record.name in files else record
                    for record in load.files)
    load = load.model_copy(update={"files": records})
    return render_html(replace(evidence, result=evidence.result.model_copy(update={"load": load, **fields})))


def _digest(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _whole() -> dict[str, bytes]:
    return {"timeline.json": json.dumps(TIMELINE).encode(), "observation.json": json.dumps(OBSERVATIONS).encode(),
            "fixture.json": json.dumps(FIXTURE).encode(), "engine.stdout.log": b"", "engine.stderr.log": b""}


@given(text=TEXTS)
@settings(max_examples=40)
def test_hostile_text_in_every_field(evidence: Evidence, text: str) -> None:
    document = poisoned(evidence.result.model_dump(by_alias=True), text) | OURS
    for row in document["assertions"]:
        row["status"] = "fail"
    assert evidence.result.load is not None
    document["load"] |= {"files": evidence.result.load.files, "undeclared": {text: 3}}
    result = Result.model_validate(document)
    page = _page(replace(evidence, result=result), _whole())
    assert problems(page) == []
    assert " ".join(printable(text).split()) in " ".join(text_of(page).split())


@given(text=TEXTS)
@settings(max_examples=40)
def test_hostile_names_in_documents(evidence: Evidence, text: str) -> None:
    """Operations, journeys, stages, pointers, matchers, steps of fixtures: names are a stranger's too."""
    operations = _renamed(dict.fromkeys(TIMELINE["operations"]), text)
    rows = TIMELINE["operations"]["browse"]
    timeline = {**TIMELINE, "operations": dict.fromkeys(operations, rows)}
    journey = copy.deepcopy(JOURNEYS["checkout"])
    for place in ("stages", "stalled"):
        journey[place] = [{name: text if isinstance(value, str) else value for name, value in row.items()}
                          for row in journey[place]]
    metrics = {**METRICS, "by_operation": dict.fromkeys(operations, METRICS["by_operation"]["redeem"])}
    looks = [{**one, "assertion": text, "status": text, "reason": text,
              "checks": {text: {"matcher": {text: text}, "actual": text, "reason": text}}} for one in OBSERVATIONS]
    page = _page(evidence, {**_whole(), "timeline.json": json.dumps(timeline).encode(),
                            "observation.json": json.dumps(looks).encode(),
                            "fixture.json": json.dumps(_renamed(FIXTURE, text)).encode(),
                            "engine.stdout.log": text.encode(), "engine.stderr.log": text.encode()},
                 metrics=metrics, journeys={text: journey, f"{text}2": journey})
    assert problems(page) == []
    assert page.count('class="area"') == 6
    assert " ".join(printable(text).split()) in " ".join(text_of(page).split())


@given(field=st.sampled_from(sorted(TIMELINE)), value=NUMBERS, place=st.integers(0, STEPS - 1))
def test_hostile_values_in_the_timeline(evidence: Evidence, field: str, value: object, place: int) -> None:
    timeline = copy.deepcopy(TIMELINE)
    if isinstance(timeline[field], list):
        timeline[field][place] = value
    elif field == "operations":
        timeline[field]["browse"]["p95"][place] = value
    else:
        timeline[field] = value
    page = _page(evidence, {**_whole(), "timeline.json": json.dumps(timeline).encode()})
    assert problems(page) == []
    assert "nan" not in page.replace("nance", "")


@given(raw=st.binary(max_size=200), name=st.sampled_from(NAMES))
def test_bytes_in_any_file(evidence: Evidence, raw: bytes, name: str) -> None:
    assert problems(_page(evidence, {**_whole(), name: raw})) == []


@given(text=texts)
@settings(max_examples=40)
def test_hostile_text_in_every_export(evidence: Evidence, text: str) -> None:
    document = evidence.result.model_dump(by_alias=True)
    for name in ("assertions", "metrics", "limitations", "notes", "journeys", "load", "reasons", "warnings", "command"):
        document[name] = _poisoned(document[name], text, name)
    for row in document["assertions"]:
        row["status"] = "fail"
    other = replace(evidence, result=Result.model_validate(document))
    for name, check in CHECKS.items():
        check(FORMATS[name].render(other))
    assert all(line.isprintable() for line in render_text(other.result, text).split("\n"))


def _poisoned(value: Any, text: str, name: str = "") -> Any:
    """As for pages, and names that a script chooses too; what the schema or a digest fixes stays."""
    if isinstance(value, dict):
        ours = name not in ("metrics", "journeys", "by_operation")
        return {inner if ours else f"{text}{inner}": _poisoned(item, text, inner) for inner, item in value.items()}
    if isinstance(value, list | tuple):
        return [_poisoned(item, text, name) for item in value]
    return text if isinstance(value, str) and name not in {*KEPT, *FIXED, *DIGESTS} else value
