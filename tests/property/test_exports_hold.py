"""Whatever a stranger's texts hold, every export stays well-formed, and nothing in it comes alive."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import pytest
from export_validators import CHECKS, check_json, check_junit, check_markdown, check_sarif, prose
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import FAILS, PASSES, TIMED_OUT, make_evidence

from runner.evidence.check import Evidence
from runner.evidence.result import Result
from runner.reports.formats import FORMATS

MARK = "HOSTILE"
"""Stands in every hostile text, so that a validator can look where such a text ended up."""

NASTY = (
    "|", "||", "\\|", "\\\\|", "`", "``", "```", "~~~", "`` ` ``", "\\", "\\`", " ", "   ", "", "\n", "\r\n", "\t",
    "\0", "]]>", "<![CDATA[", "</system-out>", "<!--", "-->", "&amp;", "&#64;", "<script>alert(1)</script>",
    "</script>", "<img src=x onerror=alert(1)>", "<b>", "![x](http://x/y.png)", "[x](javascript:alert(1))", "[x][y]",
    "[y]: http://x",
    "http://x.example", "www.x.example", "someone@x.example", "@someone", "#1", "GH-1", "org/repo#1", "$`x`$", "$$x$$",
    ":tada:", "***", "___", "# x", "> x", "- x", "1. x", "---", "===", "| a | b |", "|---|---|", "{0}", "{{0}}", "{",
    "[0](1)", "\x1b[31m", "\x1b]8;;http://x\x07x\x1b]8;;\x07", "\x9b31m", "\u202e", "\u2066", "\u200b", "\ufeff",
    "\ufffe", "\uffff", "\U0001f600", "\U0010ffff", "e\u0301", "\u2028", "\x85", "%", "%0a", "::error::x", "##[error]x",
    "'; rm -rf /", "$(id)", "-o", "--yes", "../..", "//x", "C:\\x", "x" * 2_000)
SURROGATES = ("\ud800", "\udfff", "\udc80")
"""JSON can hold them, UTF-8 cannot."""


texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=12)), min_size=1, max_size=6).map(
    lambda parts: parts[0][:40] + MARK + "".join(parts[1:]))
nasty_bytes = st.sampled_from([*NASTY, *SURROGATES]).map(lambda each: each.encode("utf-8", "surrogatepass"))
outputs = st.lists(st.one_of(nasty_bytes, st.binary(max_size=12)), max_size=8).map(b"".join)


@dataclass(frozen=True)
class InMemory(Evidence):
    """Evidence whose runs all printed the same."""

    printed: bytes = b""

    def output(self, sample: Any, stream: str) -> bytes:
        return self.printed


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_evidence(tmp_path_factory.mktemp("stored"), (FAILS, PASSES, TIMED_OUT))


FREE = ("command", "error", "run_id", "started", "finished", "verdict", "report", "payload", "backend", "source",
        "recorded_backend", "docker_network")


def hostile(stored: Evidence, text: str, printed: bytes, more: str = "") -> InMemory:
    """The evidence with ``text`` wherever a text may stand that nothing proves to be one of ours.

    ``more`` goes with it where a result may hold anything that JSON can.
    """
    document = stored.result.model_dump(mode="json", by_alias=True)
    plain = text + more
    document |= dict.fromkeys(FREE, plain)
    document |= {"reasons": [plain, text], "warnings": [plain], "environment_names": [plain]}
    document["drift"] = [{"what": plain, "recorded": plain, "used": plain}]
    change = {"kind": plain, "path": plain, "detail": plain}
    document["mode_drift"] = [change]
    document["contract"] = {"exit_code": 1, "match": text, "signature": {
        "kind": "python", "class": text, "message": text, "frames": [text, f"{text}:{text}"], "rooted": True}}
    document["tool"] = {"name": text, "version": text}
    document["engine"] = {"boundary": text, "version": text, "enforced": [text], text: text}
    document["image"] |= {"name": text, "platform": text, "matched": "name", "recorded_id": text}
    document["policy"] |= {"name": text, "effective": {text: text, "limit": {text: [text]}}}
    for sample in document["samples"]:
        sample |= {"outcome": plain, "detail": plain, "cause": plain, "mismatch_reason": plain, "changes": [change],
                   "changes_note": plain, "workspace": plain}
    return InMemory(stored.directory, Result.model_validate(document), stored.events, printed)


@given(text=texts, printed=outputs, more=st.sampled_from(["", *SURROGATES]))
def test_every_format_stays_well_formed(stored: Evidence, text: str, printed: bytes, more: str) -> None:
    evidence = hostile(stored, text, printed, more)
    for name, check in CHECKS.items():
        check(FORMATS[name].render(evidence))


@given(text=texts, printed=outputs)
def test_markdown_has_hostile_text_in_code_only(stored: Evidence, text: str, printed: bytes) -> None:
    page = check_markdown(FORMATS["md"].render(hostile(stored, text, MARK.encode() + printed)))
    assert page.text_content().count(MARK) >= 30
    runs = next(table for table in page.iter("table") if "Wall (s)" in table.text_content())
    assert len(runs.findall(".//tbody/tr")) == 3
    assert MARK not in prose(page)


@given(printed=outputs)
def test_output_in_markdown_stays_in_its_fence(stored: Evidence, printed: bytes) -> None:
    page = check_markdown(FORMATS["md"].render(hostile(stored, MARK, printed + b"\n" + MARK.encode())))
    blocks = [block.text_content() for block in page.iter("pre")]
    assert len(blocks) == 3  # both streams, and the command
    assert all(block.rstrip("\n").split("\n")[-1].endswith(MARK) for block in blocks[:2])


@given(text=texts, printed=outputs)
def test_no_terminal_is_told_anything(stored: Evidence, text: str, printed: bytes) -> None:
    """No format but HTML, which is for browsers, has a control character beyond line ends and tabs."""
    evidence = hostile(stored, text, printed)
    for name in CHECKS:
        rendered = FORMATS[name].render(evidence)
        assert all(char.isprintable() or char in "\n\t" for char in rendered), name


@given(text=texts)
def test_values_come_through_json_unchanged(stored: Evidence, text: str) -> None:
    assert check_json(FORMATS["json"].render(hostile(stored, text, b"")))["command"] == text


@given(text=texts, printed=outputs)
def test_junit_keeps_its_cases(stored: Evidence, text: str, printed: bytes) -> None:
    suite = check_junit(FORMATS["junit"].render(hostile(stored, text, printed)))
    assert [case.name for case in suite] == ["run 1", "run 2", "run 3", "verdict"]
    # A verdict that we do not know is none.
    assert type(next(case for case in suite if case.name == "verdict").result[0]).__name__ == "Error"


@given(text=texts)
def test_sarif_messages_hold_no_links_and_no_placeholders(stored: Evidence, text: str) -> None:
    run = check_sarif(FORMATS["sarif"].render(hostile(stored, text, b"")))
    for result in run["results"]:
        said = result["message"]["text"].replace("\\\\", "").replace("\\[", "").replace("\\]", "")
        assert "[" not in said
        assert "]" not in said
        assert not {"{", "}"} & set(said.replace("{{", "").replace("}}", ""))


@pytest.mark.parametrize("unit", [b"x", b"|", b"`", b"<", b"\x1b[31m", b"\xff", "\u202e".encode(), b"]]>", b"&"])
def test_a_line_of_a_megabyte_is_bounded(stored: Evidence, unit: bytes) -> None:
    line = unit * ((1 << 20) // len(unit)) + b"\n"
    evidence = dataclasses.replace(hostile(stored, MARK, b""), printed=line * 3)
    for name, check in CHECKS.items():
        rendered = FORMATS[name].render(evidence)
        assert len(rendered) < 1 << 20
        check(rendered)
