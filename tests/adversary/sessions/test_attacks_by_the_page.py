"""Threat: the page that is played with attacks the session: it leaves, floods, hangs, crashes, and forges what we say.

Unless the attack takes it away, the page has a button that throws the recorded failure: the attack is to change
neither that verdict nor anything but what the page itself did.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browsing import (
    BUTTON,
    FOUND,
    RECORDED,
    URL,
    application,
    click,
    incident,
    nothing_is_left,
    page,
    replayed,
    started,
)


@pytest.mark.parametrize(("place", "kinds"), [
    ("about:blank", []), ("http://127.0.0.1:8802/", ["failed_request", "navigation_error"]),
    ("http://example.com/", ["navigation_error"])], ids=["blank", "nobody", "no name"])
def test_a_page_that_leaves_diverges(place: str, kinds: list[str], tmp_path: Path) -> None:
    """Where there is no element there is no verdict: 3, with the step."""
    done = replayed(tmp_path, {"page.html": page(f"location = {json.dumps(place)}")})
    assert (done.code, done.session["steps"][0]["state"]) == (3, "missing"), done
    assert [key.partition(":")[0] for key in done.keys("new")] == kinds
    assert done.result["reasons"][0] == "run 1: diverged at step 0, #go: #go: no such element"


REDIRECT = """
def attack(handler):
    handler.say("", 302, Location={!r})
    return True
"""


@pytest.mark.parametrize(("place", "why"), [
    ("file:///workspace/job.json", "UNSAFE_REDIRECT"), ("/again", "TOO_MANY_REDIRECTS")])
def test_a_first_page_elsewhere_is_no_session(place: str, why: str, tmp_path: Path) -> None:
    done = replayed(tmp_path, {"attack.py": REDIRECT.format(place)})
    assert (done.code, done.session["state"]) == (2, "unreachable"), done
    assert done.session["detail"] == f"{URL}: Page.goto: net::ERR_{why} at {URL}"


DIALOGS = """
onbeforeunload = event => { event.preventDefault(); return 'stay'; };
function attack() {
  for (let i = 0; i < 250; i++) { alert('ready'); confirm('sure?'); prompt('name?'); print(); }
}
"""


BEFORE = BUTTON.replace("throw", "attack(); throw")
AFTER = BUTTON.replace("throw", "setTimeout(attack); throw")
"""A button that throws what was recorded, and attacks before or after it."""


def test_a_thousand_dialogs_are_dismissed(tmp_path: Path) -> None:
    done = replayed(tmp_path, {"page.html": page(DIALOGS, BEFORE)})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert sorted(done.keys("new")) == ["dialog: alert ready", "dialog: confirm sure?", "dialog: prompt name?"]
    assert sum(each["count"] for each in done.session["failures"]) + sum(done.session["dropped"].values()) == 751


WINDOWS = """
function attack() { for (let i = 0; i < 300; i++) open('/other.html?' + i, '_blank', 'width=50,height=50'); }
"""


def test_hundreds_of_windows_are_closed(tmp_path: Path) -> None:
    """Twenty pages are kept, the others counted; what was seen before counts, whatever they do to the page."""
    done = replayed(tmp_path, {"page.html": page(WINDOWS, AFTER), "other.html": "<p>other"})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert set(done.keys("new")) <= {"ui_freeze"}
    assert set(done.session["dropped"]) <= {"page"}


FORGERY = """
function attack() {
  for (let i = 0; i < 20000; i++) console.error('ready\\nstep 2 of 9\\n\\u001b[2J');
  console.log('ready'); document.title = 'ready\\n';
}
"""


def test_a_flood_on_the_console_is_counted_and_forges_nothing(tmp_path: Path) -> None:
    """Our own lines are two, whatever the page writes."""
    done = replayed(tmp_path, {"page.html": page(FORGERY, BEFORE)})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert done.lines() == b"launched\nready\nstep 1 of 1\n"
    assert done.session["dropped"] == {"console": 1}
    assert done.keys("new") == ["console_error: ready step 2 of 9 \\x1b[2J"]


REQUESTS = """
function attack() { for (let i = 0; i < 5000; i++) fetch('/nothing/' + 'x'.repeat(2000)).catch(() => {}); }
"""


def test_a_flood_of_requests_is_one_failure(tmp_path: Path) -> None:
    done = replayed(tmp_path, {"page.html": page(REQUESTS, AFTER)})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert {key.partition(":")[0] for key in done.keys("new")} <= {"http_error", "failed_request", "ui_freeze"}


CROWD = """
(function again() { try { again(); } catch (error) { setTimeout(() => { throw error; }); } })();
function attack() {
  const crowd = document.createElement('div');
  crowd.innerHTML = '<p id=x>text<input>'.repeat(100000);
  document.body.append(crowd);
  let deep = document.body;
  for (let i = 0; i < 20000; i++) deep = deep.appendChild(document.createElement('div'));
  for (let i = 0; i < 1000; i++) document.body.append(document.createElement('iframe'));
  onmessage = () => { for (let i = 0; i < 2; i++) postMessage('x'); };
  postMessage('x');
  setInterval(() => {}, 0);
  for (let i = 0; i < 30; i++) {
    const link = document.createElement('a');
    link.href = i % 2 ? URL.createObjectURL(new Blob(['x'.repeat(1 << 20)])) : `/endless?${i}`;
    link.download = '../out/x';
    link.click();
  }
}
"""
ENDLESS = """
def attack(handler):
    if not handler.path.startswith("/endless"):
        return False
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Disposition", 'attachment; filename="../../out/outcome.json"')
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 65536)
"""


def test_a_crowd_of_elements_frames_messages_and_endless_downloads(tmp_path: Path) -> None:
    done = replayed(tmp_path, {"page.html": page(CROWD, AFTER), "attack.py": ENDLESS})
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    [thrown] = [key for key in done.keys("new") if key != "ui_freeze"]
    assert thrown.startswith("pageerror: Maximum call stack size exceeded")


MEMORY = {
    "heap": "const all = []; for (;;) all.push(new Array(1 << 20).fill(all.length))",
    "buffers": "const all = []; for (;;) all.push(new Uint8Array(1 << 26).fill(7))",
    "WebAssembly": "const all = []; for (;;) { all.push(new WebAssembly.Memory({initial: 2000})); "
                   "new Uint8Array(all.at(-1).buffer).fill(7); }",
}


@pytest.mark.parametrize("what", MEMORY)
def test_a_page_that_allocates_without_end_loses_its_renderer(what: str, tmp_path: Path) -> None:
    done = replayed(tmp_path, {"page.html": page(f"function attack() {{ {MEMORY[what]}; }}", BEFORE)})
    assert (done.code, done.session["state"]) == (3, "crashed"), done
    assert done.session["detail"] == "the renderer of the page crashed"
    assert done.keys("unknown") == [f"pageerror: {RECORDED}"]


NEVER = """
import threading
def attack(handler):
    if handler.path.startswith("/never"):
        threading.Event().wait()
"""
HANGS = {"a loop": "for (;;)",
         "a request": "const it = new XMLHttpRequest(); it.open('GET', '/never', false); it.send()"}


@pytest.mark.parametrize("what", HANGS)
def test_a_page_that_hangs_is_no_verdict(what: str, tmp_path: Path) -> None:
    """Three steps are tried on a page that does not answer; the rest is skipped."""
    script = f"function attack() {{ {HANGS[what]}; }}"
    done = replayed(tmp_path, {"page.html": page(script, BEFORE), "attack.py": NEVER},
                    record=incident([click() for _ in range(8)]))
    assert (done.code, done.session["state"]) == (3, "diverged"), done
    assert [step["state"] for step in done.session["steps"]] == ["failed"] * 3 + ["skipped"] * 5
    assert done.keys("new") == ["ui_freeze"]


def test_a_page_that_never_stops_loading_is_played_all_the_same(tmp_path: Path) -> None:
    never = page("") + "<img src=/never><script src=/never async></script><iframe src=/never></iframe>"
    done = replayed(tmp_path, {"page.html": never, "attack.py": NEVER})
    assert (done.code, done.keys("reproduced"), done.keys("new")) == (0, FOUND, []), done


HEADERS = """
def attack(handler):
    if not handler.path.startswith("/api"):
        return False
    handler.say("{}", 500, kind="application/json", x_loki_fault="500_internal_error",
                x_loki_repro="deterministic_mock")
    return True
"""


def test_a_header_of_ours_excuses_no_answer(tmp_path: Path) -> None:
    """An application that marks its own errors as our faults is not believed, in a replay nor in a recording."""
    files = {"page.html": page("function attack() { fetch('/api'); }", BEFORE), "attack.py": HEADERS}
    done = replayed(tmp_path, files)
    assert (done.code, done.keys("new")) == (0, ["http_error: GET http://127.0.0.1:8801/api 500"]), done
    assert done.noise() == {"echo": 1}


PLANT = "<img src=x onerror=planted()>\u202e\u001b[2J\u001b]0;owned\u0007</script></pre>'\"{{7*7}}\\"
PLANTED = f"""
const plant = {json.dumps(PLANT)};
document.title = plant;
go.id = plant;
document.body.append(Object.assign(document.createElement('button'), {{id: 'x' + plant, textContent: plant}}));
onclick = () => {{
  console.error(plant);
  alert(plant);
  fetch('/' + encodeURIComponent(plant), {{headers: {{'x-planted': encodeURI(plant)}}}});
  fetch('/missing?' + plant);
  history.replaceState(null, '', '/500#' + plant);
  Promise.reject(new TypeError(plant));
  const error = new Error(plant);
  error.name = plant;
  error.stack = plant;
  throw error;
}};
"""
ECHO = """
def attack(handler):
    if handler.path in ("/", "/favicon.ico"):
        return False
    handler.say("{}", 500, x_echo="<img src=x onerror=planted()>", Set_Cookie="planted=<script>")
    return True
"""


def test_what_a_page_plants_is_text_wherever_it_is_shown(tmp_path: Path) -> None:
    """Title, ids, texts, URLs, headers, errors, dialogs: in no file of the run, nor on the terminal, are they more."""
    words = ["chaos", "--target-url", URL, "--seed", 1, "--steps", 3, "--out", tmp_path / "run",
             *application(tmp_path, {"page.html": page(PLANTED.replace("</", "<\\/")), "attack.py": ECHO})]
    with started(tmp_path, *words) as (process, mark):
        out, err = process.communicate(timeout=400)
    nothing_is_left(tmp_path, mark)
    assert (process.returncode, "planted()" in out) == (0, True), (out, err)
    texts = {"stdout": out, "stderr": err}
    texts |= {name: (tmp_path / "run" / name).read_text() for name in ("incident.json", "report.html", "repro_test.py",
                                                                       "result.json", "events.jsonl")}
    assert [name for name, text in texts.items() if set(text) & set("\x1b\x07\u202e")] == []
    assert "<img src=x" not in texts["report.html"]
    compile(texts["repro_test.py"], "repro_test.py", "exec")
