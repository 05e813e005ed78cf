"""The session in a few words: what was played, in which browser, and where that ran."""

from __future__ import annotations

from runner.evidence.session_record import SessionRecord, SessionRun
from runner.reports.html.facts import Fact
from runner.reports.html.words import count, seconds

_MODES = {"play": "a recorded session, played again", "chaos": "chaos, recorded", "race": "a race"}


def cards_of(session: SessionRecord, run: SessionRun) -> tuple[Fact, ...]:
    """The head of the page."""
    browser = session.browser
    said = [("Session", _MODES[session.mode]), ("Persona", session.persona or "none"),
            ("Seed", "none" if session.seed is None else str(session.seed)), ("Pace", session.pace),
            ("Browser", f"{browser.name} {browser.version}" if browser else "not started"),
            ("Device", browser.device if browser and browser.device else "desktop"),
            ("Browser's sandbox", browser.sandbox if browser else "not known"),
            ("Steps", f"{max(session.steps, len(run.steps)):,}"),
            ("Faults", f"{session.api_faults:,} in answers, {session.state_faults:,} in state"),
            ("Session took", seconds(max(0.0, run.duration_ms) / 1000))]
    said += [("Lanes", count(session.lanes, "lane"))] if session.lanes else []
    said += [("Not controlled", ", ".join(session.uncontrolled or run.uncontrolled) or "nothing")]
    return tuple(Fact(name, (value,)) for name, value in said)


def environment_of(session: SessionRecord) -> tuple[Fact, ...]:
    """Browser, driver and application as they were."""
    facts = [Fact("URL", (session.url,), "code"),
             Fact("Application", (session.target_command,), "code") if session.target_command is not None else
             Fact("Application", ("ran elsewhere",)),
             Fact("Ready when", (session.ready,))]
    browser = session.browser
    if browser is not None:
        facts += [Fact("Browser", (f"{browser.name} {browser.version}",), note=f"Playwright {browser.playwright}"),
                  Fact("Its sandbox", (browser.sandbox,)), Fact("Viewport", (browser.viewport,)),
                  Fact("User agent", (browser.user_agent or "the browser's own",), "code")]
    image, policy = session.driver_image, session.driver_policy
    return (*facts, Fact("Driver's image", (image.used_id,), "code", image.name or "unnamed"),
            Fact("Driver's policy", (policy.sha256,), "code", policy.name),
            Fact("Driver's seccomp profile", (policy.seccomp_sha256,), "code"))
