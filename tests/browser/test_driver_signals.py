"""Each detector: a page that sets it off, and one like it that does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, chromium
from driving import dead, job_for, mute, of_kind, session, told
from small_server import HTML, Reply, serving

from runner.browser.outcome import Outcome
from runner.browser.trace import Click, Fill, Step, UiFreezeStep

PIXEL = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
LOOK = UiFreezeStep()


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def see(browser: Chromium, tmp_path: Path) -> Any:
    """Show a page, with other answers by path, and take steps on it."""

    def show(page: str, *steps: Step, replies: dict[str, Reply] | None = None, path: str = "/",
             **changes: Any) -> Outcome:
        document = Reply(f"<!doctype html><html><head><link rel=icon href=data:,></head><body>{page}</body></html>"
                         .encode(), HTML)
        with serving({"/": document, **(replies or {})}) as app:
            return session(browser, job_for(f"{app.url}{path}", *steps, **changes), tmp_path / "out")

    return show


def test_page_error_has_its_stack_and_step(see: Any) -> None:
    outcome = see("<button id=b onclick='null.x'>b</button>", LOOK, Click("#b"))
    error, = of_kind(outcome, "pageerror")
    assert (error.message, error.step, error.own) == ("Cannot read properties of null (reading 'x')", 1, "")
    assert "HTMLButtonElement.onclick" in error.stack
    assert len(outcome.signals) == 1


def test_error_that_the_page_handles_is_none(see: Any) -> None:
    page = "<script>onerror = () => true; try { null.x } catch (e) {} setTimeout(() => null.y)</script>hello"
    assert of_kind(see("<script>try { null.x } catch (e) {}</script>hello", LOOK), "pageerror") == []
    assert of_kind(see(page, LOOK), "pageerror") == []


@pytest.mark.parametrize(("thrown", "message"), [
    ("new TypeError('no order')", "no order"), ("'just words'", "just words"), ("{a: 1}", '{"a":1}'),
    ("[4, 'x']", '[4,"x"]'), ("{}", "Object"), ("undefined", "undefined"), ("null", "null"),
    ("new Response('x')", "Response"), ("new DOMException('late', 'AbortError')", "late"),
])
def test_rejection_is_one_signal_whatever_was_thrown(see: Any, thrown: str, message: str) -> None:
    outcome = see(f"<script>Promise.reject({thrown})</script>hello", LOOK)
    assert told(outcome) == [("unhandled_rejection", message)]


def test_an_object_that_is_rejected_has_the_names_that_loki_and_the_browser_give_it(see: Any) -> None:
    outcome = see("<script>Promise.reject({code: 7}); Promise.reject(new Response('x'))</script>hello", LOOK)
    assert [(signal.message, signal.own) for signal in of_kind(outcome, "unhandled_rejection")] == [
        ('{"code":7}', ""), ("Object", "console_echo"), ("Response", ""), ("{}", "console_echo")]


def test_same_text_thrown_and_rejected_is_told_apart(see: Any) -> None:
    page = """<button id=a onclick="throw new Error('both')">a</button>
              <button id=b onclick="Promise.reject(new Error('both'))">b</button>"""
    outcome = see(page, Click("#a"), Click("#b"), Click("#a"))
    assert [kind for kind, _ in told(outcome)] == ["pageerror", "unhandled_rejection", "pageerror"]


def test_handled_rejection_is_none(see: Any) -> None:
    page = """<script>Promise.reject(new Error('caught')).catch(() => 0);
              addEventListener('unhandledrejection', (event) => event.preventDefault());
              Promise.reject(new Error('prevented'));</script>hello"""
    assert told(see(page, LOOK)) == []


def test_console_error_and_no_other_level(see: Any) -> None:
    page = "<script>console.error('it', 'broke', 7); console.warn('careful'); console.log('well')</script>hello"
    assert told(see(page, LOOK)) == [("console_error", "it broke 7")]


def test_http_error_has_its_request_and_the_console_echoes_it(see: Any) -> None:
    page = "<button id=b onclick=\"fetch('/save', {method: 'PUT'})\">b</button>"
    outcome = see(page, Click("#b"), replies={"/save": Reply(b"{}", status=503)})
    error, = of_kind(outcome, "http_error")
    assert (error.method, error.status, error.resource, error.step) == ("PUT", 503, "fetch", 0)
    assert error.url.endswith("/save")
    echo, = of_kind(outcome, "console_error")
    assert echo.own == "console_echo"


def test_echo_that_the_page_wrote_itself_is_no_echo(see: Any) -> None:
    line = "Failed to load resource: the server responded with a status of 500 (Internal Server Error)"
    assert told(see(f"<script>console.error({line!r})</script>hello", LOOK)) == [("console_error", line)]


def test_good_answers_are_no_errors(see: Any) -> None:
    page = "<script>fetch('/a').then((answer) => answer.json())</script>hello"
    assert told(see(page, LOOK, replies={"/a": Reply(b"{}", status=201)})) == []


def test_failed_request(see: Any) -> None:
    outcome = see(f"<script>fetch('{dead()}/x').catch(() => 0)</script>hello", LOOK)
    assert told(outcome) == [("failed_request", "net::ERR_CONNECTION_REFUSED")]
    failed, = of_kind(outcome, "failed_request")
    assert (failed.method, failed.resource, failed.url[-2:]) == ("GET", "fetch", "/x")


def test_request_that_our_going_on_cut_off_is_noise(see: Any) -> None:
    with mute() as url:
        page = f"<a id=a href=/next onclick=\"fetch('{url}', {{mode: 'no-cors'}})\">go</a>"
        outcome = see(page, Click("#a"), LOOK, replies={"/next": Reply(b"<p>next", HTML)})
    assert told(outcome) == []
    assert [signal.own for signal in of_kind(outcome, "failed_request")] == ["navigation"]


def test_request_that_the_page_itself_takes_back_is_not(see: Any) -> None:
    with mute() as url:
        page = f"""<button id=b onclick="const stop = new AbortController();
                   fetch('{url}', {{mode: 'no-cors', signal: stop.signal}}).catch(() => 0);
                   setTimeout(() => stop.abort(), 50)">b</button>"""
        outcome = see(page, Click("#b"), LOOK)
    assert told(outcome) == [("failed_request", "net::ERR_ABORTED")]


@pytest.mark.parametrize("call", ["alert('boo')", "confirm('sure?')", "prompt('name?')"])
def test_dialog_is_dismissed_and_told(see: Any, call: str) -> None:
    outcome = see(f"<button id=b onclick=\"{call}; document.title = 'after'\">b</button>", Click("#b"), LOOK)
    dialog, = of_kind(outcome, "dialog")
    kind = call.partition("(")[0]
    assert dialog.message.startswith(f"Unexpected {kind} dialog: '")
    assert [record.state for record in outcome.steps] == ["done", "done"]


@pytest.mark.parametrize(("pace", "states", "own"), [
    ("recorded", ["done"] * 3, ""), ("stepped", ["done", "done", "missing"], "navigation")])
def test_a_page_that_wants_to_be_kept_is_kept_where_loki_kept_it(see: Any, pace: str, states: list[str],
                                                                 own: str) -> None:
    page = """<input id=i><a id=away href=/away>away</a><button id=b>b</button>
              <script>addEventListener('beforeunload', (event) => event.preventDefault())</script>"""
    steps = (Fill("#i", "x"), Click("#away"), Click("#b"))
    outcome = see(page, *steps, pace=pace, replies={"/away": Reply(b"<p>away", HTML)})
    assert [record.state for record in outcome.steps] == states
    assert [(signal.message, signal.own) for signal in of_kind(outcome, "dialog")] == [
        ("Unexpected beforeunload dialog: ''", own)]


def test_broken_parts_of_the_page_are_told_once(see: Any) -> None:
    page = ("<img src=/no.png><script src=/no.js></script><link rel=stylesheet href=/no.css><img src=/yes.gif>"
            "<img src=/torn.png>hello")
    parts = {"/yes.gif": Reply(PIXEL, "image/gif"), "/torn.png": Reply(b"torn", "image/png")}
    outcome = see(page, LOOK, replies=parts)
    failures = of_kind(outcome, "resource_failure")
    assert sorted((signal.resource, Path(signal.url).name) for signal in failures) == [
        ("img", "no.png"), ("img", "torn.png"), ("link", "no.css"), ("script", "no.js")]


def test_first_page_that_fails_is_a_signal_and_the_session_goes_on(see: Any) -> None:
    outcome = see("", LOOK, path="/gone", replies={"/gone": Reply(b"<p>not here", HTML, 404)})
    assert outcome.state == "done"
    assert {(signal.kind, signal.status) for signal in outcome.signals if not signal.own} == {
        ("http_error", 404), ("navigation_error", 404)}


@pytest.mark.parametrize(("title", "path", "found"), [
    ("Something went wrong - Shop", "/page", 1), ("Shop", "/oops/", 1), ("Error handling for beginners", "/page", 0),
    ("Shop", "/errors", 0),
])
def test_error_pages_of_the_application(see: Any, title: str, path: str, found: int) -> None:
    page = f"<!doctype html><link rel=icon href=data:,><title>{title}</title><p>text"
    outcome = see(f"<a id=a href={path}>go</a>", Click("#a"), LOOK, replies={path: Reply(page.encode(), HTML)})
    assert len(of_kind(outcome, "navigation_error")) == found


def test_dead_link_ends_on_the_browsers_error_page(see: Any) -> None:
    outcome = see("<a id=a href=http://127.0.0.1:1/>go</a>", Click("#a"), LOOK)
    assert any("browser error page" in signal.message for signal in of_kind(outcome, "navigation_error"))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "view-source:http://127.0.0.1/"])
def test_page_may_not_lead_to_the_browsers_own_places(see: Any, url: str) -> None:
    outcome = see(f"<button id=b onclick=\"location.href = '{url}'\">b</button>hello", Click("#b"), LOOK)
    assert [signal.url.partition(":")[0] for signal in of_kind(outcome, "navigation_error")] == [url.partition(":")[0]]
    assert outcome.state == "done"


def test_page_that_was_there_and_is_blank_now(see: Any) -> None:
    outcome = see("<button id=b onclick=\"document.body.textContent = ''\">b</button>", Click("#b"))
    assert told(outcome) == [("ui_freeze", "the page is blank")]


def test_root_that_was_filled_and_is_empty_now(see: Any) -> None:
    page = "<h1>Shop</h1><div id=app><button id=b onclick=\"this.parentElement.innerHTML = ''\">b</button></div>"
    assert told(see(page, Click("#b"))) == [("ui_freeze", "the application's root <div id=\"app\"> is empty")]


COMES_BACK = """<button id=b onclick="this.textContent = '';
                setTimeout(() => { document.body.textContent = 'back' }, 50)">b</button>"""


@pytest.mark.parametrize("page", [
    "", "<div id=app></div>text", "<canvas width=9 height=9></canvas>", "<input>",
    COMES_BACK,
])
def test_page_that_shows_something_or_never_did_is_not_blank(see: Any, page: str) -> None:
    assert told(see(page, *([Click("#b")] if "id=b" in page else [LOOK]))) == []


def test_frozen_page_is_told_once_and_the_rest_is_given_up(see: Any) -> None:
    outcome = see("<button id=b onclick='for (;;);'>b</button>", Click("#b"), *([LOOK] * 5))
    assert told(outcome) == [("ui_freeze", "the page did not answer for 3000 ms")]
    assert outcome.state == "diverged"
    assert outcome.steps[-1].state == "skipped"


@pytest.mark.parametrize(("page", "found"), [
    ("<meta name=viewport content='width=device-width'>fits", set()), ("no meta", {"Horizontal", "Missing"}),
    ("<meta name=viewport content='width=393'>other meta", {"<meta"}),
    ("<meta name=viewport content='width=device-width'><div style='width: 3000px'>wide</div>", {"Horizontal"}),
])
def test_layout_is_looked_at_with_a_device_only(see: Any, page: str, found: set[str]) -> None:
    outcome = see(page, LOOK, device="iPhone 15")
    assert {signal.message.split()[0] for signal in of_kind(outcome, "layout")} == found
    assert of_kind(see(page, LOOK), "layout") == []


def test_popup_is_watched_like_the_page(see: Any) -> None:
    page = "<button id=b onclick=\"window.open('/pop')\">b</button>"
    popup = Reply(b"<link rel=icon href=data:,><script>setTimeout(() => null.popped)</script>hi", HTML)
    outcome = see(page, Click("#b"), LOOK, replies={"/pop": popup})
    assert told(outcome) == [("pageerror", "Cannot read properties of null (reading 'popped')")]
    assert outcome.signals[0].page.endswith("/pop")
