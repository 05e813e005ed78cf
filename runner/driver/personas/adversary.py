"""The adversary: unlocks what is locked, changes what is hidden, and types what should never be believed."""

from __future__ import annotations

import random

from runner.browser.trace import Click, Fill, ForceEnable, TamperHidden
from runner.driver.personas.acting import Act, Mind, look_again
from runner.driver.personas.clicking import called
from runner.driver.personas.payloads import BYPASSES, HOSTILE, shown, typed
from runner.driver.view import Element, View

TAMPER = Act(TamperHidden(), "Changed hidden and read-only inputs")
UNLOCK = Act(ForceEnable(), "Unlocked everything that was disabled")


def adversary(rng: random.Random, view: View) -> Mind:
    """Tamper, unlock, attack one field (one of a login with a bypass, and the login is sent), click one button."""
    while True:
        yield TAMPER
        view = yield UNLOCK
        fields = view.fields()
        if fields:
            field = rng.choice(fields)
            view = yield _attack(rng, field)
            if field.login:
                view = yield from _send(rng, view, field)
        there = view.buttons() or view.targets()
        if there:
            target = rng.choice(there)
            view = yield Act(Click(target.selector), f"Clicked on {called(target)}")
        elif not fields:
            view = yield look_again("nothing to attack")


def _attack(rng: random.Random, field: Element) -> Act:
    value = typed(rng, field, BYPASSES if field.login else HOSTILE)
    return Act(Fill(field.selector, value), f"Put {shown(value)} into {called(field)}")


def _send(rng: random.Random, view: View, field: Element) -> Mind:
    """Fill in the rest of the login with the same kind of thing, and send it by the button that comes next."""
    for other in view.fields():
        if other.login and other.selector != field.selector:
            view = yield _attack(rng, other)
            break
    order = [item.selector for item in view.elements]
    after = order.index(field.selector) if field.selector in order else 0
    button = next((item for item in view.elements[after:] if item.role == "button" and item.enabled), None)
    if button is not None:
        view = yield Act(Click(button.selector), f"Sent the login by {called(button)}")
    return view
