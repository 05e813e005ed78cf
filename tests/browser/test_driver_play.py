"""The driver as a program: samples of LOKI and labelled cases, applications that do not answer, and hostile pages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from driving import ROOT, dead, job_for, mute, program
from small_server import HTML, Reply, serving

from runner.browser.faults import StateFault
from runner.browser.job import Job, Outputs, Ready
from runner.browser.trace import STEPS, Click, Step, UiFreezeStep

DATA = ROOT / "tests" / "data"
CRASH = DATA / "loki" / "crash"
TYPE_ERROR = "Cannot read properties of undefined (reading 'items')"


def steps_of(incident: dict[str, Any]) -> list[Step]:
    """The trace of a LOKI incident, as far as the driver's words go."""
    found = []
    for step in incident["replay_trace"]:
        names = {field.name for field in fields(STEPS[step["kind"]])}
        found.append(STEPS[step["kind"]](**{name: value for name, value in step.items() if name in names}))
    return found


def state_faults_of(incident: dict[str, Any]) -> tuple[StateFault, ...]:
    return tuple(StateFault(fault["fault_type"], fault["storage_area"], fault["key"], fault["injected_value"],
                            fault["details_meta"].get("offset_ms", 0)) for fault in incident["state_faults"])


@contextmanager
def application(folder: Path, *options: str) -> Iterator[str]:
    """An application of a sample or case, on a port that was free."""
    port = dead().rpartition(":")[2]
    process = subprocess.Popen([sys.executable, str(folder / "app.py"), "--port", port, *options])
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def replayed(tmp_path: Path, folder: Path, *options: str, **outputs: bool) -> dict[str, Any]:
    """What the driver makes of a sample's incident and application."""
    incident = json.loads((folder / "incident.json").read_bytes())
    with application(folder, *options) as url:
        job = job_for(url, *steps_of(incident), state_faults=state_faults_of(incident), outputs=Outputs(**outputs))
        done, outcome = program(tmp_path, job)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.splitlines()[0] == b"launched"
    return outcome


def failures(outcome: dict[str, Any]) -> set[tuple[str, str, int]]:
    """Kind, message and step of each signal that is no noise."""
    return {(signal["kind"], signal["message"].partition(" on http")[0], signal["step"])
            for signal in outcome["signals"] if not signal["own"]}


def test_crash_sample_with_both_bugs(tmp_path: Path) -> None:
    outcome = replayed(tmp_path, CRASH, video=True, har=True, trace=True, dom=True)
    assert outcome["state"] == "done"
    assert {record["state"] for record in outcome["steps"]} == {"done"}
    seen = failures(outcome)
    report = "HTTP 500 (Internal Server Error)"
    assert {("unhandled_rejection", TYPE_ERROR, 0), ("http_error", report, 1), ("http_error", report, 5)} <= seen
    assert {failure[:2] for failure in seen} == {("unhandled_rejection", TYPE_ERROR), ("http_error", report)}
    assert {"network.har", "replay.webm", "trace.zip", "dom.html", "shot-0.png", "shot-1.png"} <= set(outcome["files"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*outcome["files"], "outcome.json"}
    assert outcome["browser"]["version"].partition(".")[0] in outcome["browser"]["user_agent"]


def test_crash_sample_repaired(tmp_path: Path) -> None:
    outcome = replayed(tmp_path, CRASH, "--fixed")
    assert outcome["state"] == "done"
    assert [record["state"] for record in outcome["steps"]] == ["done"] * 8
    assert failures(outcome) == set()


def test_crash_sample_without_its_buttons(tmp_path: Path) -> None:
    incident = json.loads((CRASH / "incident.json").read_bytes())
    with serving({"/": Reply(b"<!doctype html><link rel=icon href=data:,><p>another page", HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, *steps_of(incident)))
    assert (outcome["state"], outcome["detail"]) == ("diverged", "step 0: #pay: no such element")
    assert [record["state"] for record in outcome["steps"]] == ["missing"] * 3 + ["skipped"] * 5


def test_browser_that_makes_no_page_is_told(tmp_path: Path) -> None:
    with serving({"/": Reply(b"<p>hello", HTML)}) as app:  # without its ffmpeg Playwright makes no page with a video
        _, outcome = program(tmp_path, job_for(app.url, outputs=Outputs(video=True, har=True, trace=True, dom=True)),
                             PLAYWRIGHT_BROWSERS_PATH=str(tmp_path / "none"))
    assert outcome["state"] == "crashed"
    assert outcome["detail"].startswith("the browser made no page: ")
    assert outcome["files"] == []


def test_form_of_several_pages(tmp_path: Path) -> None:
    folder = DATA / "browser" / "benefits_form"
    outcome = replayed(tmp_path / "buggy", folder)
    assert failures(outcome) == {("http_error", "HTTP 500 (Internal Server Error)", 9)}
    fixed = replayed(tmp_path / "fixed", folder, "--fixed")
    assert (fixed["state"], failures(fixed)) == ("done", set())
    other = replayed(tmp_path / "other", folder, "--other")
    assert {kind for kind, _, _ in failures(other)} == {"pageerror"}
    assert replayed(tmp_path / "diverged", folder, "--diverged")["state"] == "diverged"


def test_shop_on_poisoned_storage(tmp_path: Path) -> None:
    folder = DATA / "browser" / "cart_store"
    when = ("unhandled_rejection", "Cannot read properties of null (reading 'when')", 5)
    reduce = ("pageerror", "Cannot read properties of undefined (reading 'reduce')", 6)
    blank = ("ui_freeze", "the page is blank", 6)
    assert failures(replayed(tmp_path / "buggy", folder)) == {when, reduce, blank}
    assert failures(replayed(tmp_path / "fixed", folder, "--fixed")) == set()
    assert failures(replayed(tmp_path / "quota", folder, "--fix-only", "quota")) == {reduce, blank}
    assert failures(replayed(tmp_path / "rehydrate", folder, "--fix-only", "rehydrate")) == {when}


@pytest.mark.parametrize(("changes", "detail"), [
    ({}, "nothing listens on "), ({"ready": Ready("/", timeout=0.5)}, "nothing listens on "),
])
def test_application_that_is_not_there(tmp_path: Path, changes: dict[str, Any], detail: str) -> None:
    done, outcome = program(tmp_path, job_for(dead(), **{"ready": Ready(timeout=0.5), **changes}))
    assert (done.returncode, done.stdout, outcome["state"]) == (0, b"launched\n", "not_ready")
    assert outcome["detail"].startswith(detail)


def test_application_that_never_answers(tmp_path: Path) -> None:
    with mute() as url:
        done, outcome = program(tmp_path, job_for(url, ready=Ready("/health", timeout=0.5)))
    assert (done.stdout, outcome["state"]) == (b"launched\n", "not_ready")
    assert outcome["detail"] == "/health answered nothing, not anything below 500, for 0.5 s"


def test_first_page_that_never_ends_is_there_all_the_same(tmp_path: Path) -> None:
    page = b"<!doctype html><link rel=icon href=data:,><p>hello<script src=%s></script>"
    with mute() as url, serving({"/": Reply(page % url.encode(), HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, UiFreezeStep()))
    assert (outcome["state"], failures(outcome)) == (
        "done", {("navigation_error", "the first page was not loaded within 15 s", -1)})


def test_application_that_leads_in_circles(tmp_path: Path) -> None:
    with serving({"/": Reply(b"", status=302, headers=(("location", "/"),))}) as app:
        done, outcome = program(tmp_path, job_for(app.url))
    assert (done.stdout, outcome["state"], outcome["steps"]) == (b"launched\nready\n", "unreachable", [])
    assert "net::ERR_TOO_MANY_REDIRECTS" in outcome["detail"]


def test_ready_path_must_answer_with_its_status(tmp_path: Path) -> None:
    with serving({"/health": Reply(b"", status=503)}) as app:
        _, refused = program(tmp_path / "a", job_for(app.url, ready=Ready("/health", timeout=0.3)))
        _, accepted = program(tmp_path / "b", job_for(app.url, ready=Ready("/health", 503, timeout=5.0)))
    assert (refused["state"], accepted["state"]) == ("not_ready", "done")


def test_reset_is_posted_before_the_session(tmp_path: Path) -> None:
    with serving({"/reset": Reply(b"{}")}) as app:
        _, outcome = program(tmp_path, job_for(app.url, reset="/reset"))
        assert outcome["state"] == "done"
        assert [(method, path) for method, path, _ in app.asked] == [("POST", "/reset"), ("GET", "/")]
        _, outcome = program(tmp_path, job_for(app.url, reset="/nothing"))
    assert (outcome["state"], outcome["detail"]) == ("not_ready", "the reset at /nothing answered 404")


@pytest.mark.parametrize(("job", "variables", "state", "detail"), [
    (job_for("http://127.0.0.1:9/", device="iPhone 51"), {}, "not_launched",
     "no device is called 'iPhone 51'; did you mean iPhone 17, "),
    (job_for("http://127.0.0.1:9/", browser="firefox"), {}, "not_launched",
     "this image has no firefox: use one that brings it and sets RUNNER_FIREFOX"),
    (job_for("http://127.0.0.1:9/"), {"RUNNER_CHROMIUM": "/no/such"}, "not_launched",
     "there is no chromium at /no/such, which RUNNER_CHROMIUM names"),
    (job_for("http://127.0.0.1:9/"), {"RUNNER_CHROMIUM": "/bin/false"}, "not_launched", "chromium did not start: "),
    (job_for("file:///etc/passwd"), {}, "refused", "not an http or https URL: file:///etc/passwd"),
])
def test_session_that_cannot_begin(tmp_path: Path, job: Job, variables: dict[str, str], state: str,
                                   detail: str) -> None:
    done, outcome = program(tmp_path, job, **variables)
    assert (done.returncode, done.stdout, done.stderr, outcome["state"]) == (0, b"", b"", state)
    assert outcome["detail"].startswith(detail)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'{"mode": "play"}'])
def test_folder_without_a_job(tmp_path: Path, raw: bytes) -> None:
    done, outcome = program(tmp_path, raw)
    assert (done.returncode, outcome) == (2, {})
    assert done.stderr.startswith(b"driver: ")
    assert done.stderr.count(b"\n") == 1


def test_device_turned(tmp_path: Path) -> None:
    page = (b"<!doctype html><meta name=viewport content='width=device-width'><p id=p>x"
            b"<script>p.textContent = innerWidth</script>")
    with serving({"/": Reply(page, HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, device="iPhone 15", landscape=True, outputs=Outputs(dom=True)))
    assert outcome["browser"]["device"] == "iPhone 15 landscape"
    width = outcome["browser"]["viewport"].partition("x")[0]
    assert f">{width}<" in (tmp_path / "out" / "dom.html").read_text()


HOSTILE = {
    "console": "for (let i = 0; i < 100000; i++) console.error('line', i, {a: i})",
    "errors": "for (let i = 0; i < 20000; i++) setTimeout(() => { throw new Error('number ' + i) })",
    "rejections": "for (let i = 0; i < 20000; i++) Promise.reject(new Error('number ' + i))",
    "windows": "for (let i = 0; i < 60; i++) window.open('about:blank')",
    "long": "setTimeout(() => { throw new Error('x'.repeat(5e7)) })",
    "surrogates": "setTimeout(() => { throw new Error('\\ud800 \\u0000 \\u202e \\u001b[31m') })",
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_flood_is_counted_and_not_kept(tmp_path: Path, attack: str) -> None:
    page = f"<!doctype html><link rel=icon href=data:,><p>hello<script>{HOSTILE[attack]}</script>"
    with serving({"/": Reply(page.encode(), HTML)}) as app:
        done, outcome = program(tmp_path, job_for(app.url, UiFreezeStep(), UiFreezeStep()))
    assert (done.returncode, done.stderr) == (0, b"")
    assert outcome["state"] in ("done", "diverged")  # a slow machine may not get a word in
    assert len(outcome["signals"]) <= 2000
    assert (tmp_path / "out" / "outcome.json").stat().st_size < 40 << 20
    if attack in ("errors", "rejections"):
        assert len(outcome["signals"]) + sum(count for _, count in outcome["dropped"]) > 2000


def test_dialogs_without_end_freeze_the_page_and_nothing_else(tmp_path: Path) -> None:
    page = b"<!doctype html><link rel=icon href=data:,><button id=b onclick='for (;;) alert(1)'>b</button>"
    with serving({"/": Reply(page, HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, Click("#b"), *([UiFreezeStep()] * 6)))
    assert outcome["state"] == "diverged"
    assert "ui_freeze" in {signal["kind"] for signal in outcome["signals"]}
    assert outcome["steps"][-1]["state"] == "skipped"


@pytest.mark.parametrize("hang", ["for (;;);", "for (;;) alert(1);"])
def test_page_that_hangs_at_its_last_step_has_shown_nothing(hang: str, tmp_path: Path) -> None:
    page = f"<!doctype html><link rel=icon href=data:,><button id=b onclick='{hang}'>b</button>".encode()
    with serving({"/": Reply(page, HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, Click("#b")))
    assert (outcome["state"], len(outcome["steps"])) == ("diverged", 1)
    assert outcome["detail"].endswith(": the page does not answer")


def test_killed_renderer_is_a_crash_with_all_that_was_seen_before(tmp_path: Path) -> None:
    page = b"<!doctype html><link rel=icon href=data:,><button id=b onclick='null.before'>b</button>"
    kill = b"<!doctype html><script>const all = []; for (;;) all.push(new Array(1 << 20).fill(0.1))</script>"
    with serving({"/": Reply(page + b"<a id=a href=/kill>go</a>", HTML), "/kill": Reply(kill, HTML)}) as app:
        _, outcome = program(tmp_path, job_for(app.url, Click("#b"), Click("#a"), *([UiFreezeStep()] * 40)))
    assert outcome["state"] in ("crashed", "diverged")
    assert ("pageerror", 0) in {(signal["kind"], signal["step"]) for signal in outcome["signals"]}
