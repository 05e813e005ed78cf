"""The network-tormentor: a slow network throughout, clicks into it, cookies that vanish, a line that breaks."""

from __future__ import annotations

import random
from itertools import count

from runner.browser.trace import Click, CookieEviction, Offline, Throttle
from runner.driver.personas.acting import Act, Mind, look_again
from runner.driver.personas.clicking import called
from runner.driver.view import View

LATENCY_MS = 400
SLOW, EVICT = Act(Throttle(LATENCY_MS), f"Slowed the network down by {LATENCY_MS} ms"), Act(
    CookieEviction(), "Cleared all cookies")
CUT, MEND = Act(Offline(True), "Cut the network off"), Act(Offline(False), "Restored the network")


def network_tormentor(rng: random.Random, view: View) -> Mind:
    """In turn: three clicks at once; a click, and a look at what became of it; no cookies, then a click; a click, and
    when its answer should have come, no network for two steps. Faults in answers are the session's, if it has any.
    """
    view = yield SLOW
    for turn in count(1):
        there = view.targets()
        if not there:
            view = yield look_again("nothing to click on")
            continue
        target = rng.choice(there)
        once = Act(Click(target.selector), f"Clicked on {called(target)}")
        match turn % 4:
            case 1:
                view = yield Act(Click(target.selector, repeat=3), f"Clicked 3 times on {called(target)}")
            case 2:
                yield once
                view = yield look_again("what became of the click")
            case 3:
                yield EVICT
                view = yield once
            case _:
                yield once
                yield look_again("waiting for the answer")
                yield CUT
                yield look_again("without a network")
                view = yield MEND
    return view
