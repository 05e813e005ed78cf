"""The environment that a person gives: it arrives, and is seen nowhere else."""

from __future__ import annotations

import secrets
import threading

from runner.sandbox.backends.conformance.kit import Behaviour, ConformanceFailure, Stage, expect, sh
from runner.sandbox.exit import Cause

_LOOK_SECONDS = 0.5


def _arrives(stage: Stage) -> None:
    value = "a value with 'quotes', \"more\", $dollar and ünïcode\nand a second line"
    execution = stage.run(sh('printf %s "$GIVEN"'), env=(("GIVEN", value),))
    expect("value", execution.stdout.kept, value.encode())


def _stays_inside(stage: Stage) -> None:
    secret = secrets.token_hex(16)
    plan = stage.plan(sh('test -n "$SECRET" && exec sleep 600'), env=(("SECRET", secret),))
    exposed = ["repr of the plan"] if secret in repr(plan) else []
    with stage.backend.open(plan, stage.sealed) as session:
        run = session.prepare(1)
        exposed += stage.subject.exposures(secret)

        def look() -> None:
            exposed.extend(stage.subject.exposures(secret))
            session.cancel()

        timer = threading.Timer(_LOOK_SECONDS, look)
        timer.start()
        try:
            status = run.execute().status
        finally:
            timer.join()
            run.discard()
    expect("cause", status.cause, Cause.CANCELLED)
    if exposed:
        raise ConformanceFailure(f"the secret can be read in: {', '.join(exposed)}")


def _fixed(stage: Stage) -> None:
    wanted = stage.subject.policy.env
    execution = stage.run(sh("; ".join(["printf '%s\\0' 1", *(f'printf "%s\\0" "${name}"' for name in wanted)])))
    expect(f"values of {', '.join(wanted)}", execution.stdout.kept.decode().split("\0")[1:-1], list(wanted.values()))


BEHAVIOURS = (
    Behaviour("a given variable arrives", _arrives),
    Behaviour("a given variable is seen nowhere else", _stays_inside),
    Behaviour("the policy's variables are set", _fixed),
)
