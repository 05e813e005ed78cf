"""Candidates as jobs, what a driver's outcome says of them, and cancelling what is under way."""

import threading
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from shrinking import FAULT, incident_with

from runner.browser.job import Job, Outputs, Race
from runner.browser.outcome import Lane, Outcome, Response, Signal, StepRecord
from runner.browser.trace import Click
from runner.controller.sessions.reading import Left
from runner.controller.sessions.request import Application, SessionRequest, settle_session
from runner.controller.shrinking import sandbox as room
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.sandbox import Bench, SandboxPlayer, job_for, prepared, seen_in, settled_for
from runner.errors import Interrupted, LimitNotEnforced, SetupError
from runner.incidents.identity import race_identity
from runner.incidents.model import Failure
from runner.sandbox.exit import Cause

PAY = Click("#pay", repeat=5)
WHOLE = Candidate((PAY, Click("#report")))
INCIDENT = incident_with(WHOLE, FAULT)
THROWN = Signal("pageerror", 0, 12.5, FAULT.identity.message)
DONE = Outcome("done", trace=WHOLE.trace, signals=(THROWN,),
               steps=(StepRecord(0, "done", 0, 1), StepRecord(1, "done", 1, 2)))


def settled(job=None, incident=INCIDENT):
    application = Application(payload="app", command="python3 app.py", url="http://127.0.0.1:8801/")
    job = job or Job("play", "http://127.0.0.1:8801/", trace=WHOLE.trace, outputs=Outputs(video=True, har=True))
    return settle_session(SessionRequest(application, runs=7, jobs=3), job, incident)


def test_a_candidates_job_leaves_only_an_outcome():
    candidate = Candidate((PAY,))
    job = job_for(settled().job, candidate)
    assert (job.trace, job.api_faults, job.race) == ((PAY,), (), None)
    assert job.outputs == Outputs(video=False, har=False, trace=False, screenshots=False, dom=False)
    race = job_for(Job("race", "http://127.0.0.1:8801/", race=Race(5, "#redeem")), Candidate(lanes=2))
    assert race.race == Race(2, "#redeem")


def test_a_candidate_is_one_run_within_its_own_time():
    whole, short = settled_for(settled(), WHOLE), settled_for(settled(), Candidate())
    assert (short.request.runs, short.request.jobs) == (1, 1)
    assert short.times.run < whole.times.run <= settled().times.run


def test_the_recorded_failures_that_a_run_showed():
    assert seen_in(INCIDENT, Left(DONE)) == {FAULT.identity.id}
    assert seen_in(INCIDENT, Left(replace(DONE, signals=()))) == frozenset()
    assert seen_in(INCIDENT, Left(replace(DONE, signals=(replace(THROWN, message="another"),)))) == frozenset()


def test_a_run_that_diverged_shows_nothing_whatever_was_seen_before():
    missing = (StepRecord(0, "done", 0, 1), StepRecord(1, "missing", 1, 2))
    assert seen_in(INCIDENT, Left(replace(DONE, state="diverged", steps=missing))) == frozenset()


def test_a_run_that_went_on_without_a_burst_shows_what_it_shows():
    lost = (StepRecord(0, "missing", 0, 1), StepRecord(1, "done", 1, 2))
    assert seen_in(INCIDENT, Left(replace(DONE, state="diverged", steps=lost))) == {FAULT.identity.id}
    assert seen_in(INCIDENT, Left(replace(DONE, state="diverged", steps=lost, signals=()))) == frozenset()
    cut = (*lost, StepRecord(2, "skipped", 2, 2))
    assert seen_in(INCIDENT, Left(replace(DONE, state="diverged", steps=cut))) == frozenset()


def test_a_run_whose_page_no_longer_answered_says_nothing():
    silent = replace(DONE, state="diverged", detail="the end: the page does not answer", signals=())
    assert seen_in(INCIDENT, Left(silent)) is None


def test_a_step_without_effect_says_nothing_unless_a_failure_was_seen():
    idle = replace(DONE, steps=(StepRecord(0, "failed", 0, 1), StepRecord(1, "done", 1, 2)))
    assert seen_in(INCIDENT, Left(idle)) == {FAULT.identity.id}
    assert seen_in(INCIDENT, Left(replace(idle, signals=()))) is None


@pytest.mark.parametrize("left", [
    Left(None, why="the session did not end in time"), Left(replace(DONE, state="crashed", signals=()))])
def test_a_run_that_ended_in_the_middle_says_nothing(left):
    assert seen_in(INCIDENT, left) is None


def test_a_race_that_could_not_begin_says_nothing():
    url = "http://127.0.0.1:8801/api/redeem"

    def lanes(*statuses):
        return tuple(Lane(at, "#redeem", responses=(Response("POST", url, status),))
                     for at, status in enumerate(statuses))

    race = replace(incident_with(Candidate(lanes=2), Failure(race_identity("POST", url))), lanes=lanes(200, 200, 409))
    assert seen_in(race, Left(Outcome("done", lanes=lanes(200, 200)))) == {race.failures[0].identity.id}
    assert seen_in(race, Left(Outcome("done", lanes=lanes(200, 409)))) == frozenset()
    assert seen_in(race, Left(Outcome("done", lanes=lanes(409, 409)))) is None


@pytest.mark.parametrize("left", [
    Left(None, why="the application did not answer in time", started=False),
    *(Left(Outcome(state, detail="why")) for state in ("not_ready", "unreachable", "not_launched", "refused"))])
def test_where_nothing_could_be_played_there_is_no_answer_about_any_candidate(left):
    with pytest.raises(SetupError, match=r"nothing could be played: .*(why|did not answer)"):
        seen_in(INCIDENT, left)


def bench(backend=None):
    return Bench(settled(), backend, SimpleNamespace(id="sha256:app"), SimpleNamespace(id="sha256:driver"),
                 SimpleNamespace(fingerprint=SimpleNamespace(exact="ab" * 32)))


@pytest.mark.parametrize("change", [
    {"image": SimpleNamespace(id="sha256:other")}, {"driver_image": SimpleNamespace(id="sha256:other")},
    {"sealed": None}, {"settled": replace(settled(), network="bridge")},
    {"settled": replace(settled(), env=(("A", "1"),))},
    {"settled": settled(incident=replace(INCIDENT, sha256="cd" * 32))},
    {"settled": settled(Job("play", "http://127.0.0.1:8801/", seed=8, trace=WHOLE.trace))}])
def test_all_that_an_answer_depends_on_is_in_the_terms(change):
    assert replace(bench(), **change).terms() != bench().terms()


def test_what_is_left_behind_is_not_in_the_terms():
    quiet = replace(settled(), job=replace(settled().job, outputs=Outputs()))
    assert replace(bench(), settled=quiet).terms() == bench().terms()


def test_more_at_once_than_the_host_holds_are_refused():
    backend = SimpleNamespace(probe=lambda: SimpleNamespace(memory=settled().driver_policy.memory))
    with pytest.raises(LimitNotEnforced, match="--jobs 4"), prepared(settled(), backend, 4):
        pass


class Waiting:
    """A session whose run ends when it is cancelled."""

    index, before = 1, None

    def __init__(self, under_way):
        self._under_way = under_way
        self._end = threading.Event()

    def prepare(self, _):
        return self

    def cancel(self):
        self._end.set()

    def run(self):
        self._under_way.release()
        assert self._end.wait(30)
        return SimpleNamespace(status=SimpleNamespace(cause=Cause.CANCELLED))


def test_a_cancel_ends_what_is_under_way_and_what_would_come(monkeypatch):
    under_way = threading.Semaphore(0)

    @contextmanager
    def opened(*_):
        yield Waiting(under_way)

    monkeypatch.setattr(room, "open_session", opened)
    monkeypatch.setattr(room, "driver_plan", lambda *_: None)
    monkeypatch.setattr(room, "observe_one", lambda run: run.run())
    player, ends = SandboxPlayer(bench()), []

    def play():
        try:
            player.play(WHOLE)
        except Interrupted as error:
            ends.append(error)

    threads = [threading.Thread(target=play) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert under_way.acquire(timeout=30)
    assert under_way.acquire(timeout=30)
    player.cancel()
    for thread in threads:
        thread.join(30)
    assert len(ends) == 2
    with pytest.raises(Interrupted):
        player.play(WHOLE)
