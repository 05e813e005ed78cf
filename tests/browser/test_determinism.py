"""The seed decides everything: sessions of every persona, three times each, on three applications in real Chromium.

Each run has a fresh process of the application and a fresh context. What a page can take chance from is tried source
by source. Needs the ``chromium`` package (`tools/packages` installs it); fails without.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, chromium
from stepping import chaos_job, free_port, perform, replay_of, trace_bytes

from runner.browser.job import Job, Persona
from runner.browser.outcome import Outcome
from runner.driver.pace import EPOCH_MS
from runner.incidents.identity import identity_of

STEPS: dict[Persona, int] = {"rage-clicker": 6, "novice-chaotic": 7, "network-tormentor": 7, "adversary": 7,
                             "swarm": 16, "none": 2}
STATE, API = {"novice-chaotic", "swarm"}, {"network-tormentor", "swarm"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """One browser for all sessions."""
    with chromium() as running:
        yield running


def session(port: int, persona: Persona, seed: int = 7) -> Job:
    """A session with the faults that belong to its persona."""
    return chaos_job(port, persona, steps=STEPS[persona], seed=seed, state=persona in STATE, api=persona in API)


def failures(outcome: Outcome) -> set[str]:
    """What went wrong, by its stable names."""
    return {identity_of(signal).key for signal in outcome.signals if not signal.own}


@pytest.mark.parametrize("app", ["crud", "spa", "live"])
@pytest.mark.parametrize("persona", STEPS)
def test_same_seed_same_trace(browser: Chromium, tmp_path: Path, app: str, persona: Persona) -> None:
    job = session(free_port(), persona)
    outcomes = [perform(browser, app, job, tmp_path) for _ in range(3)]
    assert [(outcome.state, outcome.detail) for outcome in outcomes] == [("done", "")] * 3
    assert len(outcomes[0].trace) >= STEPS[persona]
    assert len(outcomes[0].actions) == len(outcomes[0].trace) + 1
    assert len({trace_bytes(outcome) for outcome in outcomes}) == 1
    assert {outcome.actions for outcome in outcomes} == {outcomes[0].actions}
    assert {outcome.uncontrolled for outcome in outcomes} == {()}


@pytest.mark.parametrize("persona", ["rage-clicker", "novice-chaotic"])
def test_another_seed_another_trace(browser: Chromium, tmp_path: Path, persona: Persona) -> None:
    port = free_port()
    assert len({trace_bytes(perform(browser, "spa", session(port, persona, seed), tmp_path)) for seed in (1, 2)}) == 2


@pytest.mark.parametrize(("app", "persona", "failure"), [
    ("spa", "rage-clicker", "/api/order"), ("live", "rage-clicker", "forEach"), ("spa", "swarm", "")])
def test_a_replay_fails_in_the_same_way(browser: Chromium, tmp_path: Path, app: str, persona: Persona,
                                        failure: str) -> None:
    job = session(free_port(), persona)
    recorded = perform(browser, app, job, tmp_path)
    replayed = perform(browser, app, replay_of(job, recorded), tmp_path)
    assert replayed.state == "done"
    assert trace_bytes(replayed) == trace_bytes(recorded)
    assert replayed.api_faults == recorded.api_faults
    assert failures(replayed) == failures(recorded)
    assert any(failure in key for key in failures(recorded))


@pytest.mark.parametrize("source", ["random", "clock", "timer", "frames", "animation", "requests",
                                    "indexeddb", "endless"])
def test_a_source_that_is_held(browser: Chromium, tmp_path: Path, source: str) -> None:
    job = chaos_job(free_port(), "rage-clicker", steps=3, path=source)
    outcomes = [perform(browser, "sources", job, tmp_path) for _ in range(3)]
    assert len({trace_bytes(outcome) for outcome in outcomes}) == 1
    assert {outcome.uncontrolled for outcome in outcomes} == {()}


@pytest.mark.parametrize(("source", "name"), [
    ("transition", "css animation"), ("worker", "worker"), ("events", "server-sent events push"),
    ("tasks", "page never quiet"), ("iframe", "iframe of the same origin")])
def test_a_source_that_is_not_held_is_named(browser: Chromium, tmp_path: Path, source: str, name: str) -> None:
    job = chaos_job(free_port(), "none", steps=2, path=source)
    assert name in perform(browser, "sources", job, tmp_path).uncontrolled


def test_the_clock_begins_at_a_plausible_instant(browser: Chromium, tmp_path: Path) -> None:
    job = chaos_job(free_port(), "rage-clicker", steps=3, path="clock")
    shown = [getattr(step, "selector", "") for step in perform(browser, "sources", job, tmp_path).trace]
    clicked = [int(selector[2:].partition("-")[0]) for selector in shown if selector.startswith("#b")]
    assert clicked
    assert all(0 < at - EPOCH_MS < 10_000 for at in clicked)
