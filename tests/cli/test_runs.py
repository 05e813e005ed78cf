"""``runner runs``: filters, JSON, what is refused, and how little a listing loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stored_runs import FACTS, FAILS, IMAGE, PASSES, make_evidence

from runner.cli.runs import command
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.evidence.events import START, Event
from runner.evidence.index import Index, Opening
from runner.evidence.leftovers import partial_of
from runner.sandbox.backends.fake import FakeBackend

KILLED = "run_20200101_000000_deadbeef"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with three runs in it or beside it, and a killed one."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_STORE", str(place / "store"))
        for name, script in (("a", (FAILS,)), ("b", (FAILS, PASSES)), ("c", (FAILS, FAILS))):
            make_evidence(place / name, script, command=f"python3 {name}.py")
        with Index(place / "store") as index:
            target = place / "store" / "runs" / KILLED
            first = Event(KILLED, 1, "2020-01-01T00:00:00.000Z", "replay.started", {}, START)
            judged = Event(KILLED, 2, "2020-01-01T00:00:01.000Z", "run.judged",
                           {"index": 1, "outcome": "passed", "cause": "exited"}, first.digest())
            index.register(Opening(KILLED, os.fsencode(target), "2020-01-01T00:00:00.000Z", "old", "/old.json",
                                   "ee" * 32, "docker", 3), [first, judged])
            partial_of(target, KILLED).mkdir(parents=True)
            (partial_of(target, KILLED) / "stdout-1.bin").write_bytes(b"kept\n")
    return place


@pytest.fixture(autouse=True)
def store(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNNER_STORE", str(place / "store"))
    return place / "store"


def runs(*words: str | Path) -> Result:
    return CliRunner().invoke(command, list(map(str, words)), catch_exceptions=False)


def commands(*words: str) -> list[str]:
    """The last word of each listed command."""
    return [row["command"].split()[-1] for row in json.loads(runs("list", "--json", *words).stdout)["runs"]]


def test_newest_first(place: Path) -> None:
    lines = runs("list").stdout.splitlines()
    assert lines[0].split() == ["RUN", "VERDICT", "RUNS", "WHEN", "(UTC)", "BACKEND", "COMMAND"]
    assert [line.split()[1:3] for line in lines[1:]] == [["reproduced", "2/2"], ["not_reproduced", "1/2"],
                                                         ["reproduced", "1/1"], ["killed", "-/3"]]
    assert lines[-1].endswith("2020-01-01 00:00:00  docker   old")
    assert commands() == ["c.py", "b.py", "a.py", "old"]


@pytest.mark.parametrize(("words", "found"), [
    (("--verdict", "reproduced"), ["c.py", "a.py"]), (("--state", "killed"), ["old"]),
    (("--limit", "2"), ["c.py", "b.py"]), (("--since", "1h"), ["c.py", "b.py", "a.py"]),
    (("--state", "finished", "--verdict", "no_verdict"), []), (("--report", "/b/report"), ["b.py"]),
    (("--report", "ee" * 32), ["old"]), (("--report", "%"), []), (("--report", "\udcff"), []),
    (("--since", "2019-12-31"), ["c.py", "b.py", "a.py", "old"]),
    (("--since", "2020-01-01T02:00+01:00"), ["c.py", "b.py", "a.py"]),
    (("--since", "999999w"), None), (("--since", "yesterday"), None), (("--since", ""), None)])
def test_filters(words: tuple[str, ...], found: list[str] | None) -> None:
    if found is None:
        done = runs("list", *words)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    else:
        assert commands(*words) == found


def test_without_a_store_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "none"))
    assert runs("list").stdout == "no runs\n"
    assert json.loads(runs("list", "--json").stdout) == {"ok": True, "runs": []}
    assert runs("prune", "--keep", "0").stdout == "0 runs, 0 bytes removed\n"
    assert "there is no store" in runs("rm", "latest", "--yes").stderr
    assert "not a run directory" in runs("show", "latest").stderr
    assert list(tmp_path.iterdir()) == []


def test_show_by_every_name(place: Path) -> None:
    latest = json.loads(runs("show", "latest", "--json").stdout)
    assert latest["command"] == "python3 c.py"
    for reference in (latest["run_id"], place / "c" / "run"):
        assert runs("show", reference).stdout.startswith("REPRODUCED: 2 of 2 runs matched\n")
    assert "is the beginning of 3 runs" in runs("show", latest["run_id"][:8]).stderr
    events = runs("show", "latest", "--events").stdout
    assert events.encode() == (place / "c" / "run" / "events.jsonl").read_bytes()


def test_show_what_was_confirmed_of_a_killed_run(store: Path) -> None:
    shown = runs("show", KILLED).stdout.splitlines()
    assert shown[0] == "KILLED: 1 of 3 runs were confirmed"
    assert "run          1: passed (exited)" in shown
    assert shown[-1] == f"files        {store}/runs/.{KILLED}.partial"
    document = json.loads(runs("show", KILLED[:8], "--json").stdout)
    assert (document["state"], len(document["samples"]), document["ok"]) == ("killed", 1, False)
    assert len(runs("show", KILLED, "--events").stdout.splitlines()) == 2
    assert "has no result: it is killed" in runs("open", KILLED).stderr


def test_open_writes_the_page_again(place: Path) -> None:
    page = place / "a" / "run" / "report.html"
    for _ in range(2):
        done = runs("open", place / "a" / "run")
        assert (done.exit_code, done.stdout) == (0, f"{page}\n")
        assert page.read_text().startswith("<!DOCTYPE html>")
        page.write_text("stale")
    assert runs("show", place / "a" / "run").exit_code == 0


def test_events_and_json_exclude_each_other() -> None:
    done = runs("show", "latest", "--events", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"] == "--events and --json exclude each other"


def test_an_answer_of_no_removes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    done = CliRunner().invoke(command, ["rm", KILLED], input="n\n", catch_exceptions=False)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (0, "nothing was removed")
    assert KILLED in runs("list").stdout


def test_what_a_killed_run_left_is_counted_when_it_goes() -> None:
    assert runs("prune", "--killed", "--dry-run").stdout.splitlines()[-1] == "1 runs, 5 bytes would be removed"


def test_removing_asks_and_spares(place: Path, store: Path) -> None:
    assert (runs("rm", "latest").exit_code, runs("prune").exit_code) == (2, 2)
    assert "add --yes" in runs("rm", "latest").stderr
    assert runs("prune", "--keep", "0").stdout == "0 runs, 0 bytes removed\n", "what --out put elsewhere stays"
    assert KILLED in runs("prune", "--killed", "--older-than", "30d", "--dry-run").stdout
    assert "0 runs" in runs("prune", "--killed", "--older-than", "2020-01-01").stdout
    assert commands() == ["c.py", "b.py", "a.py", "old"]
    assert json.loads(runs("prune", "--killed", "--json").stdout) == {"ok": True, "dry_run": False, "runs": [KILLED]}
    assert list((store / "runs").iterdir()) == []
    done = runs("rm", place / "c" / "run", "latest", "--yes")  # two names of one
    assert (done.exit_code, done.stdout.splitlines()[-1].split()[:2]) == (0, ["1", "runs,"])
    assert not (place / "c" / "run").exists()
    assert commands() == ["b.py", "a.py"]


def test_prune_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    make_evidence(tmp_path / "case", (FAILS,))
    request = ReplayRequest(report=str(tmp_path / "case" / "report.json"), payload=str(tmp_path / "case" / "ledger"))
    kept = [replay(settle(request), backend=FakeBackend((FAILS,), facts=FACTS, image=IMAGE)) for _ in range(3)]
    assert "0 runs" in runs("prune", "--keep", "1", "--older-than", "1h").stdout
    assert runs("prune", "--keep", "1").stdout.splitlines()[-1].startswith("2 runs")
    assert [path.name for path in (tmp_path / "store" / "runs").iterdir()] == [kept[-1].result.run_id]
    assert len(commands()) == 2, "the one that --out put elsewhere is still known"


def test_a_listing_loads_little() -> None:
    """What makes it fast: neither pydantic nor the SDK nor the walking of trees."""
    program = ("import sys; from runner.cli.main import main\n"
               "try: main(['runs', 'list'])\n"
               "finally: print(*sorted(name for name in sys.modules if name.startswith(('pydantic', 'docker', 'rich', "
               "'jinja2', 'runner.payload', 'runner.evidence.recovery'))), file=sys.stderr)")
    for _ in range(2):  # the first may make the store, or settle what another test left
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                              env=dict(os.environ))
    assert done.stdout.startswith("RUN ")
    assert done.stderr.strip() == ""
