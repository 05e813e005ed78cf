"""Whatever a page, an application or a recording says, every export of a session stays well-formed, and nothing in it
comes alive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from export_validators import CHECKS, check_junit, check_markdown, check_sarif, prose
from hypothesis import given, settings
from hypothesis import strategies as st
from played_sessions import ITEMS, REPORT, SESSIONS, recorded, replayed
from test_exports_hold import MARK, SURROGATES, outputs, texts

from runner.evidence.check import Evidence
from runner.evidence.result import Result
from runner.incidents.model import Incident
from runner.incidents.read import parse_incident
from runner.reports.claims.session import session_claims, session_summary
from runner.reports.claims.show import show_json, show_markdown, show_text
from runner.reports.claims.summary import summary_json, summary_markdown, summary_text
from runner.reports.diff.reports import diff_claims
from runner.reports.diff.runs import diff_runs
from runner.reports.diff.text import diff_json, diff_markdown, diff_text
from runner.reports.formats import FORMATS
from runner.reports.text import render_text
from runner.reports.words import replay_command

NAMES = ("recorded", "partly", "diverged")
FIXED = frozenset({"mode", "state", "sandbox", "sha256", "used_id", "exact", "content", "kept_sha256", "output_sha256",
                   "seccomp_sha256", "file"})
"""Fields whose values the schema or a digest fixes."""


@dataclass(frozen=True)
class InMemory(Evidence):
    """Evidence whose applications and drivers all printed the same, and whose files hold it."""

    printed: bytes = b""

    def output(self, sample: Any, stream: str) -> bytes:
        return self.printed

    def target_output(self, target: Any, stream: str) -> bytes:
        return self.printed

    def file(self, record: Any) -> bytes:
        return self.printed


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_STORE", str(tmp_path_factory.mktemp("store") / "store"))
        return {"recorded": recorded(tmp_path_factory.mktemp("recorded"), ITEMS, REPORT),
                **{name: replayed(tmp_path_factory.mktemp(name), SESSIONS[name]) for name in ("partly", "diverged")}}


def poisoned(value: object, text: str, name: str = "") -> object:
    """The same document with ``text`` for every text of it that nothing fixes."""
    if isinstance(value, dict):
        return {key: item if key == "effective" else poisoned(item, text, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, text, name) for item in value]
    return text if isinstance(value, str) and name not in FIXED else value


def hostile(evidence: Evidence, text: str, printed: bytes) -> InMemory:
    """The evidence with ``text`` in every field that only sessions have."""
    document = evidence.result.model_dump(mode="json", by_alias=True)
    document["session"] = poisoned(document["session"], text)
    document |= {"command": text, "report": text, "payload": text, "reasons": [text], "warnings": [text]}
    for sample in document["samples"]:
        sample["session"] = poisoned(sample["session"], text)
        sample["target"] = poisoned(sample["target"], text)
        sample["detail"] = text
    return InMemory(evidence.directory, Result.model_validate(document), evidence.events, printed)


@settings(max_examples=30, deadline=None)
@given(text=texts, printed=outputs, more=st.sampled_from(["", *SURROGATES]), name=st.sampled_from(NAMES))
def test_every_format_stays_well_formed(kept: dict[str, Evidence], text: str, printed: bytes, more: str,
                                        name: str) -> None:
    evidence = hostile(kept[name], text + more, printed)
    for form, check in CHECKS.items():
        rendered = FORMATS[form].render(evidence)
        check(rendered)
        assert all(char.isprintable() or char in "\n\t" for char in rendered), form


@settings(max_examples=20, deadline=None)
@given(text=texts, printed=outputs)
def test_markdown_has_hostile_text_in_code_only(kept: dict[str, Evidence], text: str, printed: bytes) -> None:
    page = check_markdown(FORMATS["md"].render(hostile(kept["diverged"], text, MARK.encode() + printed)))
    assert page.text_content().count(MARK) >= 30
    assert MARK not in prose(page)


@settings(max_examples=20, deadline=None)
@given(text=texts, printed=outputs)
def test_junit_keeps_its_cases(kept: dict[str, Evidence], text: str, printed: bytes) -> None:
    suite = check_junit(FORMATS["junit"].render(hostile(kept["partly"], text, printed)))
    assert [case.classname for case in suite] == ["runner.replay"] * 2 + ["runner.session"] * 3 + ["runner.replay"]


@settings(max_examples=20, deadline=None)
@given(text=texts)
def test_sarif_messages_hold_no_links_and_no_placeholders(kept: dict[str, Evidence], text: str) -> None:
    run = check_sarif(FORMATS["sarif"].render(hostile(kept["partly"], text, b"")))
    for result in run["results"]:
        said = result["message"]["text"].replace("\\\\", "").replace("\\[", "").replace("\\]", "")
        assert not {"[", "]"} & set(said)
        assert not {"{", "}"} & set(said.replace("{{", "").replace("}}", ""))
        for place in result.get("locations", ()):
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert uri.isascii()
            assert not set(uri) & set(' <>"\\^`{|}')


@settings(max_examples=20, deadline=None)
@given(text=texts)
def test_the_terminal_and_the_command_stay_on_their_lines(kept: dict[str, Evidence], text: str) -> None:
    result = hostile(kept["partly"], text, b"").result
    assert replay_command(result).startswith("runner replay ")
    assert all(char.isprintable() or char == "\n" for char in render_text(result, "there"))


def hostile_incident(evidence: Evidence, text: str) -> Incident:
    """A recorded incident in whose texts a stranger wrote."""
    incident = parse_incident((evidence.directory / "incident.json").read_bytes())
    assert incident.own is not None
    assert incident.own.target is not None
    failures = tuple(replace(failure, identity=replace(failure.identity, message=text, url=text, frames=(text,)))
                     for failure in incident.failures)
    return replace(incident, target_url=text, path=text, persona=text, device=text, timestamp=text, failures=failures,
                   notes=(text,), own=replace(incident.own, tool=text, payload=text, network=text,
                                              target=replace(incident.own.target, command=text),
                                              uncontrolled=(text,), policies=((text, text),)))


@settings(max_examples=30, deadline=None)
@given(text=texts, more=st.sampled_from(["", *SURROGATES]))
def test_claims_of_an_incident_stay_claims(kept: dict[str, Evidence], text: str, more: str) -> None:
    incident = hostile_incident(kept["recorded"], text + more)
    claims, summary = session_claims(incident), {**session_summary(incident), "report": text}
    difference = diff_claims(claims, session_claims(hostile_incident(kept["recorded"], "other")))
    for page in (show_markdown(claims), diff_markdown(difference), summary_markdown(summary)):
        assert MARK not in prose(check_markdown(page))
    assert MARK not in summary_markdown(summary)
    for shown in (show_text(claims), show_json(claims), diff_text(difference), diff_json(difference),
                  summary_text(summary), summary_json(summary)):
        assert all(char.isprintable() or char == "\n" for char in shown)


@settings(max_examples=20, deadline=None)
@given(text=texts, printed=outputs)
def test_differences_of_hostile_sessions_are_told(kept: dict[str, Evidence], text: str, printed: bytes) -> None:
    found = diff_runs(hostile(kept["partly"], text, printed), hostile(kept["partly"], "other", b""))
    assert {"session", "failures", "steps"} <= set(found["different"])
    assert MARK not in prose(check_markdown(diff_markdown(found)))
    assert all(char.isprintable() or char in "\n\t" for char in diff_text(found))
