"""Stored evidence of browser sessions without browser and engine: the real line over a scripted pair of containers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stored_runs import FACTS, IMAGE

from runner.browser.outcome import BrowserFacts, Lane, Outcome, Response, Signal, StepRecord, write_outcome
from runner.browser.trace import Click
from runner.cli.session_replay import SessionChoice, settle_replay
from runner.controller.sessions.chaos import ChaosRequest, chaos_job
from runner.controller.sessions.play import replay_session
from runner.controller.sessions.record import record_session
from runner.controller.sessions.request import Application, SessionRequest, settle_session
from runner.evidence.check import Evidence, open_evidence
from runner.evidence.observation import Artifact
from runner.incidents.read import read_incident
from runner.payload.fingerprint import Change
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import Aftermath, Execution, PairTimes, Plan, Side
from runner.sandbox.backends.fake import FakeBackend, FakePreparedRun, FakeRun, FakeSession
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.image import ResolvedImage

DATA = Path(__file__).parent / "data"
CRASH, RACE = read_incident(DATA / "loki" / "crash"), read_incident(DATA / "loki" / "race")
URL = "http://127.0.0.1:8801/"
REDEEM = f"{URL}api/redeem"
DRIVER_IMAGE = ResolvedImage(id="sha256:" + "b7" * 32, name="sandbox-runner/browser:test", platform="linux/amd64",
                             matched="id", env=("PATH=/usr/bin",))
BROWSER = BrowserFacts("chromium", "156.0.1", "1.65.2", "on", "Mozilla/5.0", "1280x720", "", "en-US")
SAID = b"127.0.0.1 GET /api/report 500\n"
"""What the application writes to its stderr."""

ITEMS = Signal("pageerror", 0, 204.5, "Cannot read properties of undefined (reading 'items')",
               "TypeError: Cannot read properties of undefined (reading 'items')\n"
               "    at HTMLButtonElement.<anonymous> (http://127.0.0.1:8801/:42:17)", screenshot="shot-0.png")
REPORT = Signal("http_error", 1, 611.0, "HTTP 500 (Internal Server Error) on http://127.0.0.1:8801/api/report",
                method="GET", url=f"{URL}api/report", status=500)
OTHER = Signal("http_error", 2, 900.0, "HTTP 404 (Not Found) on http://127.0.0.1:8801/a.png", method="GET",
               url=f"{URL}a.png", status=404)

WELL, SERVED = ExitStatus(Cause.EXITED, 0), ExitStatus(Cause.STOPPED, None)


@dataclass(frozen=True)
class Played:
    """What the driver of one run leaves, and how its application ends."""

    outcome: Outcome | None
    status: ExitStatus = WELL
    target: ExitStatus = SERVED
    files: dict[str, bytes] = field(default_factory=dict)
    said: bytes = SAID


def steps(count: int) -> tuple[StepRecord, ...]:
    """So many steps that were taken."""
    return tuple(StepRecord(index, "done", index * 100.0, index * 100.0 + 50) for index in range(count))


def crashed(*signals: Signal, **fields: Any) -> Played:
    """A session of the crash sample that came to its end."""
    outcome = Outcome("done", browser=BROWSER, started="2026-11-30T08:00:00.000Z", duration_ms=6900.0,
                      trace=CRASH.trace, steps=steps(len(CRASH.trace)), signals=signals, files=("shot-0.png",))
    return Played(replace(outcome, **fields), files={"shot-0.png": (DATA / "media" / "shot.png").read_bytes()})


def raced(*statuses: int) -> Played:
    """Three lanes with these answers."""
    lanes = tuple(Lane(index, "#redeem", 1_000.0 + 1.5 * index, responses=(Response("POST", REDEEM, status),),
                       final_text="redeemed") for index, status in enumerate(statuses))
    return Played(Outcome("done", browser=BROWSER, duration_ms=900.0, lanes=lanes, spread_ms=3.0))


LOST = replace(crashed(), outcome=replace(
    crashed().outcome or Outcome("done"), state="diverged", detail="step 4: no such element",
    steps=(*steps(4), StepRecord(4, "missing", 400.0, 2400.0, "no element matches #pay", "shot-0.png"))))
DEAD = Played(None, ExitStatus(Cause.TIMED_OUT, 124), ExitStatus(Cause.EXITED, 3), said=b"cannot bind\n")
SESSIONS: dict[str, tuple[Played, ...]] = {
    "reproduced": (crashed(ITEMS, REPORT), crashed(ITEMS, REPORT, REPORT)),
    "partly": (crashed(ITEMS, OTHER), crashed(ITEMS)),
    "gone": (crashed(), crashed(OTHER)),
    "diverged": (LOST,),
    "not_ready": (DEAD,),
}
"""Of the crash sample. ``race``, ``tame`` and ``recorded`` are made by functions of their own."""


class FakePair(FakeBackend):
    """Run k shows ``played[k-1]``."""

    def __init__(self, played: Sequence[Played]) -> None:
        super().__init__([_driver(each) for each in played], facts=FACTS, image=IMAGE)
        self._played = tuple(played)

    def own_image(self, name: str) -> ResolvedImage:
        """The browser's."""
        return DRIVER_IMAGE

    @contextmanager
    def open_pair(self, target: Plan, payload: SealedPayload, driver: Plan, job: SealedPayload,
                  times: PairTimes) -> Iterator[FakeSession]:
        """Sessions that play the script."""
        with self.open(driver, job) as session:
            yield _PairSession(session, target, payload, self._played)  # type: ignore[misc]


class _PairSession:
    def __init__(self, session: FakeSession, target: Plan, payload: SealedPayload, played: tuple[Played, ...]) -> None:
        self._session, self._plan, self._payload, self._played = session, target, payload, played

    def prepare(self, index: int) -> _PairRun:
        played = self._played[min(index, len(self._played)) - 1]
        scripted = FakeRun(played.target, stderr=played.said, wall_seconds=7.0, peak_memory=30 << 20,
                           changes=(Change("added", b"shop.db", "file, 10 bytes"),))
        stage = FakeBackend([scripted], facts=FACTS).open(self._plan, self._payload)
        with stage as theirs:
            target = theirs.prepare(1)
            side = Side(target.before, target.execute(), target.inspect())
        return _PairRun(self._session.prepare(index), side)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


class _PairRun:
    def __init__(self, run: FakePreparedRun, side: Side) -> None:
        self._run, self._side = run, side

    def execute(self) -> Execution:
        return self._run.execute()

    def inspect(self) -> Aftermath:
        return replace(self._run.inspect(), target=self._side)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)


def _driver(played: Played) -> FakeRun:
    files = dict(played.files)
    if played.outcome is not None:
        files["outcome.json"] = write_outcome(played.outcome)
    artifacts = tuple(Artifact(b"out/" + name.encode(), data) for name, data in sorted(files.items()))
    return FakeRun(played.status, stdout=b"launched\nready\n" if played.outcome is not None else b"", wall_seconds=6.9,
                   cpu_seconds=1.5, peak_memory=180 << 20, artifacts=artifacts)


def application(place: Path, **fields: Any) -> Application:
    """The sample's application, its payload below ``place``."""
    root = place / "shop"
    root.mkdir(parents=True, exist_ok=True)
    (root / "app.py").write_text("print('shop')\n")
    for path in (root / "app.py", root):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return Application(**{"payload": str(root), "command": "python3 app.py --port 8801", **fields})


def replayed(place: Path, played: Sequence[Played], *, incident: Path = DATA / "loki" / "crash", video: bool = False,
             **fields: Any) -> Evidence:
    """An incident, played again over a script; the run directory is ``place / "run"``."""
    choice = SessionChoice(report=str(incident), runs=len(played), jobs=1, timeout=None, policy=None, network=None,
                           browser_image=None, video=video)
    settled = settle_replay(choice, application(place, **fields))
    return open_evidence(replay_session(settled, out=place / "run", backend=FakePair(played)).directory)


def recorded(place: Path, *signals: Signal, played: Played | None = None) -> Evidence:
    """A chaos session that found what the signals tell."""
    app = application(place, url=URL, ready="/healthz")
    job = chaos_job(ChaosRequest(seed=7, steps=3), app)
    clicks = tuple(Click(selector=f"#pay{index}") for index in range(3))
    found = played or crashed(*signals, trace=clicks, steps=steps(3), actions=("clicked",) * 3,
                              files=("network.har", "replay.webm", "shot-0.png"))
    found = replace(found, files={**found.files, "network.har": b'{"log": {"entries": []}}',
                                  "replay.webm": (DATA / "media" / "clip.webm").read_bytes()})
    settled = settle_session(SessionRequest(app), job)
    return open_evidence(record_session(settled, out=place / "run", backend=FakePair([found])).directory)


def stored(place: Path, name: str) -> Evidence:
    """One of all the sessions: those of :data:`SESSIONS`, ``race``, ``tame``, ``recorded``, ``quiet``, ``cut``."""
    if name in SESSIONS:
        return replayed(place, SESSIONS[name])
    race = DATA / "loki" / "race"
    return {"race": lambda: replayed(place, [raced(200, 200, 200), raced(200, 409, 200)], incident=race),
            "tame": lambda: replayed(place, [raced(200, 409, 409)], incident=race),
            "recorded": lambda: recorded(place, ITEMS, REPORT),
            "quiet": lambda: recorded(place),
            "cut": lambda: recorded(place, played=DEAD)}[name]()


ALL = (*SESSIONS, "race", "tame", "recorded", "quiet", "cut")
