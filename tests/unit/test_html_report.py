"""The HTML report: what is on it, in which order, and that only our own markup is."""

import base64
import hashlib
import re
import subprocess
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from html5lib.html5parser import ParseError
from stored_runs import FAILS, PASSES, TIMED_OUT, make_evidence, silent
from strict_html import document, problems, text_of

from runner.evidence.result import Drift
from runner.oracles.contract import Contract, ProcessSignature
from runner.payload.fingerprint import Change
from runner.reports.html import render_html
from runner.reports.html.words import ranges, seconds, size, which_runs
from runner.sandbox.exit import Cause, ExitStatus

ROOT = Path(__file__).resolve().parents[2]
SIGNALED = replace(silent(FAILS), status=ExitStatus(Cause.SIGNALED, 139, 11), changes=(), artifacts=())


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("mixed"), (FAILS, FAILS, PASSES, TIMED_OUT, SIGNALED))


def changed(evidence, **fields):
    return replace(evidence, result=evidence.result.model_copy(update=fields))


def headings(page):
    return [(node.tag, node.text.strip()) for node in document(page).iter() if node.tag in ("h1", "h2", "h3")]


def found_in(page):
    try:
        return problems(page)
    except ParseError as error:
        return [str(error)]


def section(page, name):
    [found] = [node for node in document(page).iter("section") if node.get("aria-labelledby") == name]
    return " ".join(" ".join(found.itertext()).split())


def test_sections_come_in_order_under_the_verdict(mixed):
    said = headings(render_html(changed(mixed, warnings=("a limit was lowered",))))
    assert [words for tag, words in said if tag != "h3"] == [
        "NOT REPRODUCED", "Why", "Warnings", "What drifted", "The claim", "Runs", "Output", "What the runs changed",
        "Artifacts", "Payload", "Image", "Sandbox and policy", "Event log", "Replay it", "Check it"]
    levels = [int(tag[1]) for tag, _ in said]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize(("script", "heading", "lead"), [
    ((FAILS,), "REPRODUCED", "The one run failed the way the report claims."),
    ((FAILS, FAILS), "REPRODUCED", "All 2 runs failed the way the report claims."),
    ((PASSES,), "NOT REPRODUCED", "The one run did not fail the way the report claims."),
    ((PASSES, PASSES), "NOT REPRODUCED", "None of 2 runs failed the way the report claims."),
    ((FAILS, PASSES), "NOT REPRODUCED", "Only 1 of 2 runs failed the way the report claims; all of them must."),
    ((replace(FAILS, status=ExitStatus(Cause.INIT_LOST, None)),), "NO VERDICT",
     "Nothing can be said about the claim: what was seen is not enough.")])
def test_the_verdict_is_the_heading_and_the_title(tmp_path, script, heading, lead):
    page = render_html(make_evidence(tmp_path, script))
    assert headings(page)[0] == ("h1", heading)
    assert lead in page
    assert document(page).find("head/title").text == f"{heading}: python3 check.py"


def test_an_unknown_verdict_is_none(mixed):
    page = render_html(changed(mixed, verdict='reproduced" onload="alert(1)'))
    assert headings(page)[0] == ("h1", "NO VERDICT")
    assert problems(page) == []


def test_each_run_is_a_row(mixed):
    table = next(node for node in document(render_html(mixed)).iter("table") if node.get("class") == "runs")
    rows = [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in table.find("tbody")]
    assert rows[0] == ["1", "✓ matched", "exited with 1", "0.250 s", "0.070 s", "12 MiB", "19 B", "221 B", "1"]
    assert rows[2][:3] == ["3", "✕ did not match another exit code", "exited with 0"]
    assert rows[3][:6] == ["4", "✕ timed out the run did not end in time", "ended at the deadline", "20.0 s", "n/a",
                           "n/a"]
    assert rows[4][2] == "killed by a signal SIGSEGV (11)"
    assert [row[-1] for row in rows] == ["1", "1", "2", "3", "4"]


def test_memory_is_drawn_against_the_policys_limit(tmp_path):
    page = render_html(make_evidence(tmp_path, (replace(FAILS, peak_memory=512 << 20),)))
    assert [node.get("width") for node in document(page).iter() if node.tag.endswith("rect")] == ["100", "50"]
    assert "against the 1 GiB that the policy allows" in page


def test_alike_runs_are_told_once_and_the_match_is_highlighted(mixed):
    page = render_html(mixed)
    tree = document(page)
    assert [node.get("id") for node in tree.iter("details") if node.get("id")] == [
        f"output-{number}" for number in range(1, 5)]
    assert [node.text for node in tree.iter("mark")] == ["ledger is off"]
    assert "Runs 1\N{EN DASH}2" in section(page, "output")


def test_what_the_runs_changed_and_left(tmp_path):
    changes = (Change("modified", b"data/\xff\x1b[2J", "contents"), Change("removed", b"check.py", ""))
    said = section(render_html(make_evidence(tmp_path, (replace(FAILS, changes=changes), PASSES))), "changes")
    assert "modified data/\\xff\\x1b[2J contents removed check.py" in said
    assert "Run 2: nothing." in said


def test_a_long_change_list_is_cut_and_says_so(tmp_path):
    changes = tuple(Change("added", b"file-%04d" % number, "") for number in range(1000))
    page = render_html(make_evidence(tmp_path, (replace(FAILS, changes=changes),)))
    assert "800 more changes are in result.json" in page
    assert page.count(">added<") == 200


def test_drift_is_a_table(mixed):
    drift = (Drift(what="network", recorded="none", used="bridge"), Drift(what="image", recorded=None, used="x"))
    said = section(render_html(changed(mixed, drift=drift)), "drift")
    assert "network none bridge" in said
    assert "image nothing x" in said


def test_the_claim_shows_the_signature_with_its_frames(mixed):
    said = section(render_html(mixed), "claim")
    assert "Pattern ledger is off" in said
    assert "ValueError: ledger is off: wanted 42, found 43 python exception" in said
    assert "check.py:main check.py:<module> innermost first" in said


def test_a_process_signature(tmp_path):
    evidence = make_evidence(tmp_path, (SIGNALED,), contract=Contract(None, None, ProcessSignature("posix_signal", 11)))
    said = section(render_html(evidence), "claim")
    assert "posix_signal" in said
    assert "any but 0" not in said


def test_the_policy_says_what_was_enforced_and_what_not(mixed):
    engine = {**mixed.result.engine, "not_enforced": ["pids"], "enforced": ["memory", "swap"]}
    said = section(render_html(changed(mixed, engine=engine)), "sandbox")
    assert "memory 1 GiB enforced, proved" in said
    assert "pids 512 NOT ENFORCED" in said
    assert "swap enforced, proved" in said
    assert "output.keep 16 MiB" in said


def test_the_head_of_the_event_log_is_there(mixed):
    assert mixed.result.events.head in section(render_html(mixed), "events")


def test_the_same_evidence_gives_the_same_page(mixed):
    assert render_html(mixed) == render_html(mixed)


def test_the_page_holds_no_place_of_the_run_directory(mixed, tmp_path):
    moved = replace(mixed, directory=mixed.directory.rename(tmp_path / "elsewhere"))
    try:
        assert str(tmp_path) not in render_html(moved)
    finally:
        moved.directory.rename(mixed.directory)


def test_only_allowed_markup_and_one_hashed_style(mixed):
    page = render_html(mixed)
    assert problems(page) == []
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policies = [node.get("content") for node in document(page).iter("meta") if node.get("http-equiv")]
    assert policies == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre></style>",
                                     "<!-- --!> -->", "<![CDATA[x]]>", "</title><svg onload=x>", "{{ 7*7 }}",
                                     "&lt;script&gt;&#x3c;", "</template><base href=//x>"])
def test_hostile_text_stays_text(mixed, hostile):
    page = render_html(changed(mixed, command=hostile))
    assert problems(page) == []
    assert hostile in text_of(page)


@pytest.mark.parametrize("breach", ["<script>1</script>", "<img src=x>", "<p style='color:red'>", "<a href='//x'>x</a>",
                                    "<p onclick='x()'>", "<iframe></iframe>", "<form></form>", "<base href=x>",
                                    "<!-- hi -->", "<p class=unknown>", "<a href='javascript:x'>x</a>"])
def test_the_judge_finds_each_breach(mixed, breach):
    assert found_in(render_html(mixed).replace("<footer", f"{breach}<footer", 1))


def test_controls_of_every_field_are_spelled_out(mixed):
    page = render_html(changed(mixed, reasons=("\u202eeel\x00\x1b[2J\ud800",), command="a\u2066b"))
    page.encode()
    assert "\\u202eeel\\x00\\x1b[2J\\ud800" in page
    assert not set(page) & set("\u202e\u2066\x00\x1b")


def test_no_runs_no_image_no_events_still_make_a_page(mixed):
    bare = changed(mixed, samples=(), image=None, verdict="no_verdict", engine={}, backend="host", reasons=())
    page = render_html(bare)
    assert problems(page) == []
    assert "No run was finished." in page
    assert "it ran on the host itself" in page


def test_many_different_outputs_are_bounded(tmp_path):
    script = tuple(replace(FAILS, stdout=b"run %d\n" % number + b"x" * 20_000) for number in range(150))
    page = render_html(make_evidence(tmp_path, (*script, PASSES)))
    tree = document(page)
    assert len([node for node in tree.iter("details") if node.get("id")]) == 100
    assert "the output of 51 runs is not on this page" in page
    assert "did not match" in section(page, "output")
    assert len(page) < 3 << 20


def test_a_thousand_alike_runs_are_small(tmp_path):
    page = render_html(make_evidence(tmp_path, (FAILS,), runs=1000))
    assert page.count("Traceback") == 1
    assert len(page) < 1 << 20


def test_how_to_replay(mixed):
    page = changed(mixed, jobs=3, environment_names=("A",), report="/tmp/it's <b>.json",
                   oracle_source="legacy_inferred")
    said = section(render_html(page), "replay")
    assert "with each VALUE filled in" in said
    assert """runner replay 'it'"'"'s <b>.json' --payload ledger --runs 5 --yes --jobs 3 --exit-code 1""" in said
    assert "--env A=VALUE" in said


def test_how_to_replay_a_bundle(mixed):
    said = section(render_html(changed(mixed, bundle_sha256="0" * 64, report="/x/bug.repro")), "replay")
    assert "Where the bundle is:" in said
    assert "runner replay bug.repro --runs 5 --yes" in said


def test_words():
    assert [size(number) for number in (0, 999, 1000, 1024, 9_650_176, 1 << 30)] == [
        "0 B", "999 B", "0.977 KiB", "1 KiB", "9.2 MiB", "1 GiB"]
    assert [seconds(value) for value in (0.1461, 12.34, 125.2)] == ["0.146 s", "12.3 s", "2 min 5 s"]
    assert ranges([1, 2, 3, 5, 8, 9]) == "1\N{EN DASH}3, 5, 8\N{EN DASH}9"
    assert which_runs((4,)) == "Run 4"
    assert len(which_runs(tuple(range(1, 10_000, 2)))) < 160


def test_the_wheel_holds_templates_and_style(tmp_path):
    subprocess.run([ROOT / ".venv/bin/python", "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=ROOT,
                   check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    templates = {path.relative_to(ROOT).as_posix() for path in (ROOT / "runner/reports/html/templates").iterdir()}
    assert templates <= held
    assert len(templates) >= 6
