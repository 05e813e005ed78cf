"""``repro_test.py`` in a process of its own, against real applications and a real Chromium."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_server import HTML, Reply, serving

from runner.browser.faults import ApiFault
from runner.browser.trace import Click, Fill
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident
from runner.incidents.read import read_incident
from runner.reports.script import render_script

CHROMIUM = "/usr/bin/chromium"
DATA = Path(__file__).parent.parent / "data"
LOKI, CASES = DATA / "loki", DATA / "browser"
REPRODUCED, NOT_REPRODUCED, COULD_NOT_RUN = 1, 0, 2


def free_port() -> int:
    """One that nothing listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def started(app: Path, *flags: str) -> Iterator[int]:
    """The application, once its port takes connections."""
    port = free_port()
    process = subprocess.Popen([sys.executable, app, "--port", str(port), *flags])
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        assert process.poll() is None
        yield port
    finally:
        process.kill()
        process.wait()


def write(folder: Path, incident: Incident) -> Path:
    """The script as a file."""
    script = folder / "repro_test.py"
    script.write_text(render_script(incident), encoding="utf-8")
    return script


def play(script: Path, url: str, *, command: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the script where nothing of ours can be imported."""
    options = () if command else ("--url", url, "--executable", CHROMIUM)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([sys.executable, *command, script.name, *options], cwd=script.parent, text=True, timeout=180,
                          capture_output=True, check=False,
                          env={**environment, "REPRO_URL": url, "REPRO_EXECUTABLE": CHROMIUM})


ROWS = [
    ("loki/crash", (), "/", REPRODUCED, "REPRODUCED: 2 of 2"),
    ("loki/crash", ("--fixed",), "/", NOT_REPRODUCED, "NOT REPRODUCED: 0 of 2"),
    ("loki/race", (), "/coupon", REPRODUCED, "3 of 3 lanes succeeded"),
    ("loki/race", ("--fixed",), "/coupon", NOT_REPRODUCED, "1 of 3 lanes succeeded, 2 refused"),
    ("browser/cart_store", (), "/", REPRODUCED, "REPRODUCED: 2 of 2"),
    ("browser/cart_store", ("--fix-only", "quota"), "/", REPRODUCED, "REPRODUCED: 1 of 2"),
    ("browser/cart_store", ("--fix-only", "rehydrate"), "/", REPRODUCED, "REPRODUCED: 1 of 2"),
    ("browser/cart_store", ("--fixed",), "/", NOT_REPRODUCED, "NOT REPRODUCED"),
    ("browser/cart_store", ("--diverged",), "/", COULD_NOT_RUN, "step 3 (click) cannot be taken: #add"),
    ("browser/cart_store", ("--other",), "/", NOT_REPRODUCED, "new failure: http_error: POST"),
    ("browser/benefits_form", (), "/", REPRODUCED, "REPRODUCED: 1 of 1"),
    ("browser/benefits_form", ("--fixed",), "/", NOT_REPRODUCED, "NOT REPRODUCED"),
    ("browser/benefits_form", ("--diverged",), "/", COULD_NOT_RUN, "step 0 (click) cannot be taken: #start"),
    ("browser/benefits_form", ("--other",), "/", NOT_REPRODUCED, "new failure: pageerror: Cannot set"),
    ("browser/wallet_race", (), "/", REPRODUCED, "3 of 3 lanes succeeded"),
    ("browser/wallet_race", ("--fixed",), "/", NOT_REPRODUCED, "1 of 3 lanes succeeded, 2 refused"),
    ("browser/wallet_race", ("--diverged",), "/", COULD_NOT_RUN, "diverged: lane"),
    ("browser/wallet_race", ("--other",), "/", NOT_REPRODUCED, "new failure: http_error: POST"),
    ("browser/wallet_race", ("--spent",), "/", COULD_NOT_RUN, "no lane succeeded"),
]


@pytest.mark.parametrize(("sample", "flags", "path", "code", "says"), ROWS)
def test_exit_code_of_python(tmp_path: Path, sample: str, flags: tuple[str, ...], path: str, code: int,
                             says: str) -> None:
    script = write(tmp_path, read_incident(DATA / sample))
    with started(DATA / sample / "app.py", *flags) as port:
        ended = play(script, f"http://127.0.0.1:{port}{path}")
    assert says in ended.stdout, ended.stdout + ended.stderr
    assert (ended.returncode, ended.stderr) == (code, "")


@pytest.mark.parametrize("sample", ["loki/crash", "loki/race", "browser/cart_store"])
def test_nothing_listens(tmp_path: Path, sample: str) -> None:
    ended = play(write(tmp_path, read_incident(DATA / sample)), f"http://127.0.0.1:{free_port()}/")
    assert ended.returncode == COULD_NOT_RUN, ended.stdout
    assert "COULD NOT RUN" in ended.stdout
    assert "ERR_CONNECTION_REFUSED" in ended.stdout


@pytest.mark.parametrize(("flags", "summary"), [
    ((), "1 failed"), (("--fixed",), "1 passed"), (("--diverged",), "1 error")])
def test_pytest_tells_the_three_apart(tmp_path: Path, flags: tuple[str, ...], summary: str) -> None:
    script = write(tmp_path, read_incident(CASES / "benefits_form"))
    with started(CASES / "benefits_form" / "app.py", *flags) as port:
        ended = play(script, f"http://127.0.0.1:{port}/", command=("-m", "pytest", "-p", "no:cacheprovider"))
    assert summary in ended.stdout.splitlines()[-1], ended.stdout
    if not flags:
        assert "reproduced: http_error: http://127.0.0.1:8811/apply/3 500" in ended.stdout


PAGE = b"""<!doctype html><link rel=icon href=data:,><button id=ask>Ask</button><script>
document.getElementById('ask').onclick = async () => {
  const answer = await fetch('/api/x');
  const told = answer.headers.get('x-loki-repro');
  throw new Error(`got ${answer.status} ${await answer.text()} ${told}`);
};</script>"""


def asking(url: str, message: str) -> Incident:
    """Asks three times; the second request got an answer of ours."""
    fault = ApiFault("status_code", "GET", f"{url}api/x", occurrence=2, status=503, content_type="text/plain",
                     body="Ym9vbSE=")
    return Incident("runner", url, trace=(Click("#ask", repeat=3),), api_faults=(fault,),
                    failures=(Failure(Identity("pageerror", message)),))


@pytest.mark.parametrize(("message", "code"), [
    ("got 503 boom! deterministic_mock", REPRODUCED), ("got 200 fine null", REPRODUCED),
    ("got 503 fine", NOT_REPRODUCED)])
def test_a_fault_is_for_its_request_only(tmp_path: Path, message: str, code: int) -> None:
    with serving({"/": Reply(PAGE, HTML), "/api/x": Reply(b"fine", "text/plain")}) as app:
        ended = play(write(tmp_path, asking(f"{app.url}/", message)), f"{app.url}/")
    assert ended.returncode == code, ended.stdout
    assert ("seen 1x" if "boom" in message else "seen 2x" if code else "not seen") in ended.stdout


LOCKED = b"""<!doctype html><link rel=icon href=data:,><input id=tick type=checkbox><input id=fixed%s><script>
%s</script>"""


@pytest.mark.parametrize(("lock", "script", "code", "says"), [
    (b" readonly", b"", COULD_NOT_RUN, "step 1 (fill) had no effect"),
    (b" readonly", b"throw new Error('gone')", REPRODUCED, "note: step 1 (fill) had no effect"),
    (b"", b"", NOT_REPRODUCED, "note: step 0 (fill) had no effect: "),
])
def test_a_step_without_effect_never_means_that_a_failure_is_gone(tmp_path: Path, lock: bytes, script: bytes, code: int,
                                                                  says: str) -> None:
    """But for what no browser could ever have done: no text goes into a box to tick."""
    with serving({"/": Reply(LOCKED % (lock, script), HTML)}) as app:
        incident = Incident("loki", f"{app.url}/", trace=(Fill("#tick", "x"), Fill("#fixed", "x")),
                            failures=(Failure(Identity("pageerror", "gone")),))
        ended = play(write(tmp_path, incident), f"{app.url}/")
    assert says in ended.stdout, ended.stdout
    assert ended.returncode == code


def test_a_hostile_incident_runs_no_code_of_its_own(tmp_path: Path) -> None:
    """Triple quotes, braces, backslashes and the rest end as text on the application's side, or as "could not run"."""
    evil = 'x"""\n\'\'\'\\{{7*7}}%s{0}\ud800\u2028\x00#\x1b[31m\nopen("pwned", "w").close()\n"""'
    with serving({"/": Reply(PAGE, HTML), "/api/x": Reply(b"fine", "text/plain")}) as app:
        incident = Incident("loki", f"{app.url}/?q={evil}", run_id=evil, persona=evil, trace=(Click(evil),),
                            notes=(evil,), failures=(Failure(Identity("pageerror", evil, (evil,))),))
        ended = play(write(tmp_path, incident), f"{app.url}/")
    assert ended.returncode == COULD_NOT_RUN, ended.stdout
    assert [file.name for file in tmp_path.iterdir() if file.name != "__pycache__"] == ["repro_test.py"]
    assert ended.stdout.replace("\n", "").isprintable()


def test_without_playwright_it_says_so(tmp_path: Path) -> None:
    """An uncaught ImportError would end with 1: reproduced."""
    script = write(tmp_path, read_incident(LOKI / "crash"))
    ended = subprocess.run([sys.executable, "-S", "-I", script], text=True, capture_output=True, check=False,
                           timeout=60)
    assert (ended.returncode, ended.stdout) == (
        COULD_NOT_RUN, "COULD NOT RUN: Playwright is missing: pip install playwright\n")


def test_without_a_browser_it_says_so(tmp_path: Path) -> None:
    script = write(tmp_path, read_incident(LOKI / "crash"))
    ended = subprocess.run([sys.executable, script, "--executable", tmp_path / "none"], text=True, capture_output=True,
                           check=False, timeout=60)
    assert ended.returncode == COULD_NOT_RUN
    assert "chromium does not start" in ended.stdout


def test_the_labels_of_the_cases_are_those_of_the_rows() -> None:
    """The rows above are no invention of ours."""
    words = {REPRODUCED: "reproduced", NOT_REPRODUCED: "not_reproduced", COULD_NOT_RUN: "inconclusive"}
    for folder in CASES.iterdir():
        expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
        for sample, flags, _, code, _ in ROWS:
            if sample == f"browser/{folder.name}":
                mode, = (name for name, arguments in expected["modes"].items() if arguments == list(flags))
                assert expected["verdicts"][mode] == words[code]
