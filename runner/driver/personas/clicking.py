"""The rage-clicker, and the one that does nothing."""

from __future__ import annotations

import random

from runner.browser.trace import Click
from runner.driver.personas.acting import Act, Mind, look_again
from runner.driver.view import Element, View

BURST, BURST_DELAY_MS = 5, 50


def called(element: Element) -> str:
    """An element in a log of actions: by its selector, and its text if it has one."""
    return f"{element.selector} ({ascii(element.text)[1:-1]})" if element.text else element.selector


def rage_clicker(rng: random.Random, view: View) -> Mind:
    """Five clicks on everything that is a button, each once before any again, in an order that the seed draws.

    Follows a link only where there is no button.
    """
    done: set[str] = set()
    while True:
        there = view.buttons() or view.targets()
        if not there:
            view = yield look_again("nothing to click on")
            continue
        left = [element for element in there if element.selector not in done]
        if not left:
            done.clear()
            continue
        element = rng.choice(left)
        done.add(element.selector)
        view = yield Act(Click(element.selector, repeat=BURST, delay_ms=BURST_DELAY_MS),
                         f"Clicked {BURST} times on {called(element)}")


def nobody(_rng: random.Random, _view: View) -> Mind:
    """Only watches what the page does by itself."""
    while True:
        yield look_again("only watching")
