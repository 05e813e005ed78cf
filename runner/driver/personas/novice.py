"""The novice: fills in what it finds with what does not belong there, hits a key, and tries every button."""

from __future__ import annotations

import random

from runner.browser.trace import Click, Fill, Press
from runner.driver.personas.acting import Act, Mind, look_again
from runner.driver.personas.clicking import called
from runner.driver.personas.payloads import KEYS, NOVICE, shown, typed
from runner.driver.view import View

CHOICE_KEYS = ("ArrowDown", "End")


def novice_chaotic(rng: random.Random, view: View) -> Mind:
    """Each field and choice once, then each button and link once, in the order of the page; then all over again.

    A field that appears meanwhile comes before the next button.
    """
    done: set[str] = set()
    while True:
        field = next((item for item in view.fields() + view.choices() if item.selector not in done), None)
        target = next((item for item in view.targets() if item.selector not in done), None)
        if field is not None:
            done.add(field.selector)
            key = rng.choice(KEYS if field.role == "field" else CHOICE_KEYS)
            if field.role == "field":
                value = typed(rng, field, NOVICE)
                view = yield Act(Fill(field.selector, value), f"Filled {called(field)} with {shown(value)}")
            if any(item.selector == field.selector for item in view.elements):
                view = yield Act(Press(key, field.selector), f"Pressed {key} on {called(field)}")
        elif target is not None:
            done.add(target.selector)
            view = yield Act(Click(target.selector), f"Clicked on {called(target)}")
        elif done and view.elements:
            done.clear()
        else:
            view = yield look_again("nothing to fill in or to click on")
