"""Each kind of step has its real effect on the page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, chromium
from driving import job_for, mute, session, told
from small_server import HTML, Reply, SmallServer, serving

from runner.browser.job import Outputs
from runner.browser.outcome import Outcome
from runner.browser.trace import (
    ApiFaultStep,
    Click,
    CookieEviction,
    Fill,
    ForceEnable,
    Offline,
    Press,
    StateFaultStep,
    Step,
    TamperHidden,
    Throttle,
    UiFreezeStep,
)

SAY = """<script>
const log = document.createElement('pre');
document.addEventListener('DOMContentLoaded', () => document.body.append(log));
var say = (...words) => { log.textContent += words.join(' ') + '\\n'; };
</script>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as opened:
        yield opened


class Shown:
    """What a session left: its outcome, what the page said, and what its server was asked."""

    def __init__(self, outcome: Outcome, dom: str, app: SmallServer) -> None:
        self.outcome = outcome
        self.said = dom.partition("<pre>")[2].partition("</pre>")[0].splitlines()
        self.dom = dom
        self.asked = [path for _, path, _ in app.asked]
        self.states = [record.state for record in outcome.steps]


@pytest.fixture
def take(browser: Chromium, tmp_path: Path) -> Any:
    """Take steps on a page that can ``say`` things."""

    def run(page: str, *steps: Step, replies: dict[str, Reply] | None = None, **changes: Any) -> Shown:
        document = f"<!doctype html><link rel=icon href=data:,>{SAY}<body>{page}".encode()
        with serving({"/": Reply(document, HTML), **(replies or {})}) as app:
            job = job_for(app.url, *steps, outputs=Outputs(screenshots=True, dom=True), **changes)
            outcome = session(browser, job, tmp_path)
            dom = tmp_path / "dom.html"
            return Shown(outcome, dom.read_text("utf-8") if dom.is_file() else "", app)

    return run


def test_click_repeats_with_its_delays(take: Any) -> None:
    page = "<button id=b onclick='say(Math.round(performance.now()))'>b</button>"
    shown = take(page, Click("#b", repeat=3, delay_ms=120))
    times = [int(time) for time in shown.said]
    assert len(times) == 3
    assert all(later - earlier >= 120 for earlier, later in pairwise(times))
    record, = shown.outcome.steps
    assert record.ended_ms - record.started_ms >= 3 * 120 + 50


def test_other_steps_are_followed_by_a_pause(take: Any) -> None:
    record, = take("hello", ForceEnable()).outcome.steps
    assert record.ended_ms - record.started_ms >= 150


def test_click_on_a_disabled_button_is_done_and_does_nothing(take: Any) -> None:
    shown = take("<button id=b disabled onclick=\"say('clicked')\">b</button>", Click("#b"))
    assert (shown.states, shown.said) == (["done"], [])


def test_click_goes_through_what_covers_the_button_as_a_users_would(take: Any) -> None:
    page = """<button id=b style="position: fixed; inset: 0" onclick="say('button')">b</button>
              <div style="position: fixed; inset: 0" onclick="say('cover')"></div>"""
    assert take(page, Click("#b")).said == ["cover"]


def test_element_that_comes_late_is_waited_for(take: Any) -> None:
    page = """<script>setTimeout(() => { document.body.insertAdjacentHTML('afterbegin',
              "<button id=b onclick=say('late')>b</button>") }, 700)</script>"""
    shown = take(page, Click("#b"))
    assert (shown.states, shown.said) == (["done"], ["late"])


@pytest.mark.parametrize(("page", "step", "why"), [
    ("hello", Click("#b"), "#b: no such element"),
    ("<button id=b hidden>b</button>", Click("#b"), "#b: the element is there, but not visible"),
    ("<button id=b style='width: 0; height: 0; padding: 0; border: 0'></button>", Click("#b"),
     "#b: the element is there, but not visible"),
    ("hello", Fill("#b", "x"), "#b: no such element"), ("hello", Press("Enter", "#b"), "#b: no such element"),
    ("hello", Click("div:nth-of-type("), "div:nth-of-type(: cannot be looked for: "),
])
def test_missing_element_diverges_with_a_picture_and_the_rest_is_skipped(take: Any, tmp_path: Path, page: str,
                                                                         step: Step, why: str) -> None:
    shown = take(page, ForceEnable(), step, Click("#c"))
    assert shown.states == ["done", "missing", "skipped"]
    assert shown.outcome.state == "diverged"
    assert shown.outcome.detail.startswith(f"step 1: {why}")
    assert shown.outcome.steps[1].screenshot == "shot-1.png"
    assert (tmp_path / "shot-1.png").read_bytes().startswith(b"\x89PNG")
    assert shown.outcome.trace == (ForceEnable(),)


@pytest.mark.parametrize(("page", "why"), [
    ("", "no such element"), ("<button id=a hidden>a</button>", "the element is there, but not visible"),
])
def test_burst_without_its_element_diverges_and_the_rest_is_tried(take: Any, page: str, why: str) -> None:
    page += "<button id=b onclick=say('b')>b</button>"
    shown = take(page, Click("#a", repeat=5), Click("#b"), Offline(True), Click("#a"), Click("#b"))
    assert (shown.states, shown.said) == (["missing", "done", "done", "missing", "skipped"], ["b"])
    assert (shown.outcome.state, shown.outcome.detail) == ("diverged", f"step 0: #a: {why}")
    assert shown.outcome.trace == (Click("#a", repeat=5), Click("#b"), Offline(True))


def test_clicks_that_take_their_own_button_away_are_done(take: Any) -> None:
    shown = take("<button id=b onclick=\"say('once'); this.remove()\">b</button>", Click("#b", repeat=3, delay_ms=10))
    assert (shown.states, shown.said) == (["done"], ["once"])
    assert shown.outcome.steps[0].detail.startswith("1 of 3 clicks: #b: no such element")


def test_fill_sets_the_value_as_typing_does(take: Any) -> None:
    page = "<input id=i oninput=\"say('input', this.value)\" onfocus=\"say('focus')\">"
    assert take(page, Fill("#i", "a <b>\"'"), UiFreezeStep()).said == ["focus", "input a &lt;b&gt;\"'"]


def test_fill_of_what_cannot_be_filled_fails_and_the_session_goes_on(take: Any) -> None:
    page = "<button id=b onclick=\"say('on')\">b</button><input id=c type=checkbox>"
    shown = take(page, Fill("#c", "x"), Click("#b"))
    assert (shown.states, shown.said, shown.outcome.state) == (["failed", "done"], ["on"], "done")
    assert shown.outcome.steps[0].screenshot == "shot-0.png"


def test_press_on_an_element_and_on_the_focus(take: Any) -> None:
    page = "<input id=i onkeydown=\"say(event.key)\"><script>onkeydown = (event) => say('any', event.key)</script>"
    assert take(page, Press("Enter", "#i"), Press("Escape")).said == ["Enter", "any Enter", "Escape", "any Escape"]


def test_force_enable(take: Any) -> None:
    page = """<button id=a disabled onclick="say('a')">a</button>
              <button id=b aria-disabled=true onclick="say('b', this.hasAttribute('aria-disabled'))">b</button>"""
    shown = take(page, Click("#a"), ForceEnable(), Click("#a"), Click("#b"))
    assert shown.said == ["a", "b false"]


def test_tamper_hidden(take: Any) -> None:
    page = """<form><input type=hidden name=role value=guest><input name=price value=10 readonly>
              <input name=free value=1>
              <button id=b type=button onclick="say(new URLSearchParams(new FormData(this.form)))">b</button></form>"""
    assert take(page, TamperHidden(), Click("#b")).said == [
        "role=ADVERSARY_MODIFIED_ADMIN&amp;price=ADVERSARY_MODIFIED_ADMIN&amp;free=1"]


def test_offline_and_back(take: Any) -> None:
    page = """<script>say(navigator.onLine);
              for (const kind of ['offline', 'online']) addEventListener(kind, () => say(kind, navigator.onLine));
              ononline = () => say('property')</script>
              <button id=b onclick="fetch('/x').then(() => say('got'), () => say('failed'))">b</button>"""
    shown = take(page, Click("#b"), Offline(True), Click("#b"), Offline(False), Click("#b"), UiFreezeStep(),
                 replies={"/x": Reply(b"{}")})
    assert shown.said == ["true", "got", "offline false", "failed", "online true", "property", "got"]


def test_page_cannot_tell_that_it_is_offline(take: Any) -> None:
    page = """<iframe srcdoc="<script>parent.say('frame', navigator.onLine)</script>"></iframe><script>
              const get = Object.getOwnPropertyDescriptor(Navigator.prototype, 'onLine').get;
              say(navigator.onLine, String(get).includes('[native code]'), Object.keys(navigator).length);
              try { get.call({}); say('no'); } catch (error) { say(error.name); }</script>"""
    assert sorted(take(page, UiFreezeStep()).said) == ["TypeError", "frame true", "true true 0"]


def test_throttle_slows_the_network_down_and_offline_still_cuts_it_off(take: Any) -> None:
    page = """<button id=b onclick="const began = performance.now();
              fetch('/x').then(() => say(performance.now() - began > 600), () => say('failed'))">b</button>"""
    shown = take(page, Throttle(700), Click("#b", delay_ms=1200), Offline(True), Click("#b", delay_ms=200),
                 Offline(False), Click("#b", delay_ms=1200), replies={"/x": Reply(b"{}")})
    assert shown.said == ["true", "failed", "true"]


def test_cookie_eviction_clears_all(take: Any) -> None:
    page = """<script>document.cookie = 'a=1'; document.cookie = 'b=2'</script>
              <button id=b onclick="say(document.cookie)">b</button>"""
    shown = take(page, Click("#b"), CookieEviction(), Click("#b"))
    assert shown.said == ["a=1; b=2", ""]
    assert shown.outcome.steps[1].detail == "cleared 2 cookies"


def test_api_fault_step_is_a_mark(take: Any) -> None:
    shown = take("hello", ApiFaultStep("delay", "/x"))
    assert (shown.states, shown.asked) == (["done"], ["/"])


def test_state_fault_step_without_its_fault_fails(take: Any) -> None:
    shown = take("hello", StateFaultStep("type_swap"))
    assert shown.states == ["failed"]
    assert shown.outcome.steps[0].detail == "there is no state fault for this type_swap step"


def test_ui_freeze_step_looks_again(take: Any) -> None:
    page = "<button id=b onclick=\"setTimeout(() => { document.body.textContent = '' })\">b</button>"
    shown = take(page, Click("#b"), UiFreezeStep(), UiFreezeStep(), UiFreezeStep(), UiFreezeStep())
    assert told(shown.outcome) == [("ui_freeze", "the page is blank")]


def test_step_waits_for_the_document_that_the_one_before_asked_for(take: Any) -> None:
    with mute() as url:
        page = f"""<button id=b onclick="say('old')">b</button><img src='{url}'>
                   <a id=a href=/next>next</a>"""
        following = Reply(b"<!doctype html><button id=b onclick=\"document.title = 'new'\">b</button>", HTML)
        shown = take(page, Click("#a"), Click("#b"), replies={"/next": following})
    assert "<title>new</title>" in shown.dom
    assert shown.states == ["done", "done"]
