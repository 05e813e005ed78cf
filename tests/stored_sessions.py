"""Stored evidence of a browser session without a browser: a replay over the fake backend, made one of sessions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from stored_runs import FAILS, PASSES, make_evidence

from runner.evidence.check import Evidence
from runner.evidence.parts import ImageRecord
from runner.evidence.session_record import (
    BrowserRecord,
    FailureVerdict,
    FileRecord,
    LaneRecord,
    NoiseRecord,
    SeenFailure,
    SessionRecord,
    SessionRun,
    StepTaken,
    TargetRecord,
)

MEDIA = Path(__file__).parent / "data" / "media"
KEY = "pageerror: Cannot read properties of undefined (reading 'items') at HTMLButtonElement.<anonymous> /"
STEPS = tuple(StepTaken(index=index, kind="click", text=f"click #pay{index} 5 times", state="done",
                        started_ms=1000.0 * index, ended_ms=1000.0 * index + 312.5) for index in range(230))
STATES = ("reproduced", "partly", "not_reproduced", "unknown", "recorded", "new")
VERDICTS = tuple(FailureVerdict(id=f"{number:012x}", key=f"{KEY} {state}", kind="pageerror", state=state, seen=1,
                                runs=2, step=number) for number, state in enumerate(STATES))
SEEN = (SeenFailure(id=VERDICTS[0].id, key=KEY, known=True, count=6, step=0, at_ms=204.0, screenshot="shot-0.png"),
        SeenFailure(id=VERDICTS[1].id, key=KEY, known=True, count=1, step=220, at_ms=220_100.0,
                    screenshot="shot-220.png"),
        SeenFailure(id=VERDICTS[5].id, key=KEY, known=False, count=1, step=-1, at_ms=12.0),
        SeenFailure(id="f" * 12, key=KEY, known=False, count=2, step=3, at_ms=None, screenshot="none.png"))
RUN = SessionRun(
    state="done", detail="", duration_ms=6900.0, steps=STEPS, failures=SEEN, missing=(VERDICTS[2].id,),
    noise=(NoiseRecord(rule="echo", count=10, first="console_error: Failed to load resource"),
           NoiseRecord(rule="of tomorrow", count=1)),
    lanes=tuple(LaneRecord(lane=lane, selector="#pay", clicked_ms=None if lane == 2 else 2.5 * lane,
                           responses=("POST http://127.0.0.1:8801/api/redeem 200",), final_text="redeemed")
                for lane in range(3)),
    spread_ms=2.5, uncontrolled=("worker",), unfired=("delay for GET /x",), dropped={"console_error": 7})
INCIDENT: dict[str, Any] = {
    "run_id": "run_1", "timestamp": "2026-11-30T12:00:00", "target_url": "http://127.0.0.1:8801/", "persona": None,
    "browser": "chromium", "seed": 7, "replay_trace": [
        {"kind": "state_fault", "fault_type": "clock_drift", "target": "Date.now", "details": "moved"}],
    "api_faults": [{"url": "http://127.0.0.1:8801/api/pay", "method": "POST", "fault_type": "status_code",
                    "status": 503, "body": {"error": "x"}, "original_status": None, "injected_status": 503,
                    "details": {}, "timestamp": 1.0}],
    "state_faults": [{"storage_area": "clock", "key": "Date.now", "target": "Date.now", "fault_type": "clock_drift",
                      "original_value": None, "injected_value": "+7200s", "details": "moved",
                      "details_meta": {"offset_ms": 7200000}, "timestamp": 1.0}]}


def har(url: str = "http://127.0.0.1:8801/", count: int = 120) -> dict[str, Any]:
    """A HAR of many requests."""
    return {"log": {"entries": [
        {"request": {"method": "GET", "url": f"{url}{number}"}, "time": 12.25, "response": {
            "status": -1 if number == 2 else 200, "content": {"size": 2048, "mimeType": "text/html; charset=utf-8"}}}
        for number in range(count)]}}


def make_session(place: Path, *, run: SessionRun = RUN, incident: dict[str, Any] | None = None,
                 requests: object = None, url: str = "http://127.0.0.1:8801/") -> Evidence:
    """Evidence of two runs; the first is told. Its directory holds video, pictures, HAR and incident."""
    evidence = make_evidence(place, (FAILS, PASSES))
    files = {"replay.webm": (MEDIA / "clip.webm").read_bytes(), "shot-0.png": (MEDIA / "shot.png").read_bytes(),
             "shot-220.png": b"no picture", "network.har": json.dumps(requests or har()).encode(),
             "incident.json": json.dumps(INCIDENT if incident is None else incident).encode()}
    for name, data in files.items():
        (evidence.directory / name).write_bytes(data)
    result = evidence.result
    session = SessionRecord(
        mode="play", url=url, persona="RageClicker", seed=7, pace="recorded", steps=len(run.steps),
        target_command="python3 app.py --port 8801", ready="GET / answers below 500 within 30 s",
        browser=BrowserRecord(name="chromium", version="156.0", playwright="1.65.2", sandbox="on", user_agent="Mozilla",
                              viewport="1280x720", device=""),
        driver_image=ImageRecord(**result.image.model_dump()) if result.image else None, driver_policy=result.policy,
        failures=VERDICTS, api_faults=1, state_faults=1, lanes=3, rate="raced in 1 of 2 runs", uncontrolled=("worker",),
        notes=("a note",), files=tuple(FileRecord(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
                                       for name, data in files.items()))
    first = result.samples[0]
    target = TargetRecord(cause="stopped", returncode=None, wall_seconds=7.0, output_sha256="", stdout=first.stdout,
                          stderr=first.stderr, workspace="/workspace")
    samples = (first.model_copy(update={"session": run, "target": target}),
               result.samples[1].model_copy(update={"session": run, "target": target}))
    return replace(evidence, result=result.model_copy(update={"session": session, "samples": samples}))
