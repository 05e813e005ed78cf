"""Whatever a stranger writes, in every field and in the output: the page parses strictly and holds only our markup."""

import re
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import FAILS, PASSES, make_evidence
from strict_html import problems, text_of

from runner.errors import printable
from runner.evidence.result import MatchRecord, Result
from runner.reports.html import render_html
from runner.reports.html.ansi import render_output

FRAGMENTS = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onfocus='x", "</style>", "</title>", "</pre>",
    "</template>", "<template>", "<!--", "-->", "--!>", "<![CDATA[", "]]>", "<?php ?>", "<svg onload=x>", "&lt;",
    "&#x202e;", "&#0;", "&nosuch;", "javascript:alert(1)", "</details></main>", "<plaintext>", "<base href=//x>",
    "{{ 7 * 7 }}", "{% raw %}", "<meta http-equiv=refresh content=0>", "\x00", "\x1b[31m", "\x1b[",
    "\x1b]8;;http://x\x07", "\x1b[2J",
    "\u202e", "\u2066", "\u2028", "\ufeff", "\x85", "\r", "\r\n", "\n", "\t", "\ufffe", "\U0010ffff", "\u0301" * 20)
hostile_text = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(st.characters(exclude_categories=["Cs"]))),
                        max_size=6).map("".join)
hostile_bytes = st.lists(st.one_of(st.sampled_from(FRAGMENTS).map(str.encode), st.binary(max_size=20)),
                         max_size=20).map(b"".join)
KEPT = {"schema", "fingerprint_mode", "timeout_source", "stream", "file", "kept_sha256"}
"""Fields whose values are fixed by the schema, or which say where to read."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("hostile"), (FAILS, PASSES))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Evidence whose files a test may rewrite."""
    return make_evidence(tmp_path_factory.mktemp("scratch"), (FAILS,))


def poisoned(value, text, key=""):
    """The same document with every text in it, names of keys aside, replaced."""
    if isinstance(value, dict):
        return {name: poisoned(inner, text, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [poisoned(inner, text, key) for inner in value]
    return text if isinstance(value, str) and key not in KEPT else value


@given(text=hostile_text)
def test_hostile_text_in_every_field(evidence, text):
    document = poisoned(evidence.result.model_dump(by_alias=True), text)
    document["engine"][text] = {text: [text, None, 1.5]}
    document["policy"]["effective"][text] = {text: text}
    document["contract"]["signature"] = {"kind": text, text: text, "frames": [text, {text: text}]}
    page = render_html(replace(evidence, result=Result.model_validate(document)))
    page.encode()
    assert problems(page) == []
    assert " ".join(printable(text).split()) in " ".join(text_of(page).split())


@given(stdout=hostile_bytes, stderr=hostile_bytes, start=st.integers(-5, 200), length=st.integers(-5, 200))
def test_hostile_output(scratch, stdout, stderr, start, length):
    sample = scratch.result.samples[0]
    for name, data in (("stdout", stdout), ("stderr", stderr)):
        (scratch.directory / f"{name}-1.bin").write_bytes(data)
        record = getattr(sample, name).model_copy(update={
            "bytes": len(data), "kept": len(data), "kept_sha256": sha256(data).hexdigest(),
            "sha256": sha256(data).hexdigest()})
        sample = sample.model_copy(update={name: record})
    sample = sample.model_copy(update={"match": MatchRecord(stream="stdout", start=start, end=start + length)})
    page = render_html(replace(scratch, result=scratch.result.model_copy(update={"samples": (sample,)})))
    page.encode()
    assert problems(page) == []


@given(before=hostile_bytes, inside=hostile_bytes, after=hostile_bytes)
def test_the_highlight_is_exactly_the_match(before, inside, after):
    """Without sequences and overwritten lines, what is in ``<mark>`` is what those bytes say by themselves."""
    before, inside, after = (part.replace(b"\x1b", b"").replace(b"\r", b"") for part in (before, inside, after))
    markup = render_output(before + inside + after, (len(before), len(before) + len(inside)))
    marked = "".join(re.findall(r"<mark>(.*?)</mark>", markup, re.DOTALL))
    assert re.sub(r"<[^>]*>", "", marked) == re.sub(r"<[^>]*>", "", render_output(inside))


@given(number=st.one_of(st.integers(), st.integers(0, 1 << 60)),
       seconds=st.floats(allow_nan=False, allow_infinity=False))
def test_hostile_numbers(evidence, number, seconds):
    samples = tuple(sample.model_copy(update={
        "index": number, "peak_memory": number, "signal": number, "signal_hint": number, "returncode": number,
        "wall_seconds": seconds, "cpu_seconds": seconds, "stdout": sample.stdout.model_copy(update={"bytes": number})})
        for sample in evidence.result.samples)
    effective = {**evidence.result.policy.effective, "memory": number, "pids": seconds}
    policy = evidence.result.policy.model_copy(update={"effective": effective})
    page = render_html(replace(evidence, result=evidence.result.model_copy(update={
        "samples": samples, "policy": policy, "runs": number, "passes": number})))
    assert problems(page) == []
