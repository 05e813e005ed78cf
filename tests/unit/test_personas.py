"""Personas as what they are: functions of a seed and of views."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from runner.browser.job import Persona
from runner.browser.trace import (
    Click,
    CookieEviction,
    Fill,
    ForceEnable,
    Offline,
    Press,
    Step,
    TamperHidden,
    Throttle,
    UiFreezeStep,
)
from runner.driver.personas.acting import Thinking
from runner.driver.personas.names import PERSONAS
from runner.driver.personas.payloads import BYPASSES, HOSTILE, KEYS, NOVICE
from runner.driver.personas.swarm import WAVE
from runner.driver.view import Element, View

FORM = View((
    Element("#name", "field", "text", "Name"),
    Element("#age", "field", "number"),
    Element("#kind", "choice", "select"),
    Element("#save", "button", "button", "Save"),
    Element("#send", "button", "submit", "Send"),
    Element("#locked", "button", "button", "Locked", enabled=False),
    Element("a:nth-of-type(1)", "link", "a", "Next"),
    Element("a:nth-of-type(2)", "link", "a", "Elsewhere", away=True),
), blank=False)
LOGIN = View((
    Element("#user", "field", "text", login=True),
    Element("#password", "field", "password", login=True),
    Element("#enter", "button", "button", "Enter"),
), blank=False)
ACTING: tuple[Persona, ...] = ("rage-clicker", "novice-chaotic", "network-tormentor", "adversary", "swarm")


def steps(persona: Persona, seed: int, count: int, view: View = FORM) -> list[Step]:
    """What a persona does, always seeing the same."""
    mind = Thinking(PERSONAS[persona], random.Random(seed))
    return [mind.next_act(view).step for _ in range(count)]


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_seed_makes_one_sequence(persona: Persona) -> None:
    assert steps(persona, 3, 60) == steps(persona, 3, 60)


@pytest.mark.parametrize("persona", ACTING)
def test_seeds_make_different_sequences(persona: Persona) -> None:
    assert len({tuple(steps(persona, seed, 40)) for seed in range(8)}) == 8


@pytest.mark.parametrize("persona", PERSONAS)
def test_nothing_is_done_to_what_is_locked_or_leads_away(persona: Persona) -> None:
    touched = {getattr(step, "selector", None) for seed in range(10) for step in steps(persona, seed, 60)}
    assert not touched & {"#locked", "a:nth-of-type(2)"}


@pytest.mark.parametrize("persona", PERSONAS)
def test_an_empty_page_is_looked_at_again(persona: Persona) -> None:
    assert UiFreezeStep in {type(step) for step in steps(persona, 1, 40, View())}


def test_the_order_of_hashes_has_no_part() -> None:
    script = ("import random; from test_personas import *; "
              "print([steps(persona, 5, 80) for persona in PERSONAS], [steps('adversary', 5, 40, LOGIN)])")
    told = {subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, check=True, capture_output=True,
                           env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
                           ).stdout for seed in ("0", "1", "77")}
    assert len(told) == 1
    assert b"Fill" in told.pop()


def test_rage_clicker_bursts_on_every_button_before_any_again() -> None:
    acts = steps("rage-clicker", 4, 4)
    assert all(isinstance(step, Click) and (step.repeat, step.delay_ms, step.force) == (5, 50, True) for step in acts)
    for sweep in (acts[:2], acts[2:]):
        assert {getattr(step, "selector", None) for step in sweep} == {"#save", "#send"}
    only_links = View(FORM.elements[6:], blank=False)
    assert steps("rage-clicker", 4, 1, only_links) == [Click("a:nth-of-type(1)", repeat=5, delay_ms=50)]


def test_novice_fills_in_then_hits_a_key_then_tries_the_buttons() -> None:
    acts = steps("novice-chaotic", 9, 9)
    assert [type(step) for step in acts] == [Fill, Press, Fill, Press, Press, Click, Click, Click, Fill]
    assert [getattr(step, "selector", None) for step in acts[:5]] == ["#name", "#name", "#age", "#age", "#kind"]
    assert acts[3].key in KEYS  # type: ignore[union-attr]
    assert acts[4].key in {"ArrowDown", "End"}  # type: ignore[union-attr]


def test_novice_uses_all_of_its_eleven_payloads_and_keys() -> None:
    acts = [step for seed in range(60) for step in steps("novice-chaotic", seed, 40)]
    assert len(NOVICE) == len(set(NOVICE)) == 11
    assert {step.value for step in acts if isinstance(step, Fill) and step.selector == "#name"} == set(NOVICE)
    assert {step.key for step in acts if isinstance(step, Press) and step.selector == "#name"} == set(KEYS)
    assert all(float(step.value) is not None for step in acts if isinstance(step, Fill) and step.selector == "#age")


def test_novice_does_not_press_on_what_has_gone() -> None:
    mind = Thinking(PERSONAS["novice-chaotic"], random.Random(1))
    assert isinstance(mind.next_act(FORM).step, Fill)
    assert isinstance(mind.next_act(View(FORM.elements[3:], blank=False)).step, Click)


def test_network_tormentor_goes_round_in_fours() -> None:
    acts = steps("network-tormentor", 2, 21)
    kinds = [type(step) for step in acts]
    assert kinds[0] is Throttle
    one_round = [Click, Click, UiFreezeStep, CookieEviction, Click, Click, UiFreezeStep, Offline, UiFreezeStep, Offline]
    assert kinds[1:] == one_round * 2
    assert [step.repeat for step in acts if isinstance(step, Click)] == [3, 1, 1, 1] * 2
    assert [step.value for step in acts if isinstance(step, Offline)] == [True, False] * 2


def test_adversary_tampers_unlocks_attacks_and_clicks() -> None:
    acts = steps("adversary", 6, 8)
    assert [type(step) for step in acts] == [TamperHidden, ForceEnable, Fill, Click] * 2
    values = {step.value for seed in range(60) for step in steps("adversary", seed, 12)
              if isinstance(step, Fill) and step.selector == "#name"}
    assert values == set(HOSTILE)


def test_adversary_sends_a_login_with_bypasses() -> None:
    acts = steps("adversary", 6, 6, LOGIN)
    assert [type(step) for step in acts] == [TamperHidden, ForceEnable, Fill, Fill, Click, Click]
    assert {getattr(step, "selector", None) for step in acts[2:4]} == {"#user", "#password"}
    values = {step.value for seed in range(40) for step in steps("adversary", seed, 6, LOGIN) if isinstance(step, Fill)}
    assert values == set(BYPASSES)
    assert len(BYPASSES) == 5


def test_swarm_is_the_four_in_waves_with_seeds_of_their_own() -> None:
    acts = steps("swarm", 11, 2 * 4 * WAVE)
    rng = random.Random(11)
    seeds = [rng.getrandbits(64) for _ in range(4)]
    four: tuple[Persona, ...] = ("novice-chaotic", "adversary", "network-tormentor", "rage-clicker")
    for place, (persona, seed) in enumerate(zip(four, seeds, strict=True)):
        waves = [acts[start:start + WAVE] for start in (place * WAVE, (4 + place) * WAVE)]
        assert waves[0] + waves[1] == steps(persona, seed, 2 * WAVE)
