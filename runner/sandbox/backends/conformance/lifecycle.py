"""The order of calls, cancel, and that nothing stays. (That nothing stays is checked after every behaviour.)"""

from __future__ import annotations

import threading

from runner.errors import RunnerError
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.conformance.kit import (
    Behaviour,
    ConformanceFailure,
    Need,
    Stage,
    expect,
    sh,
)
from runner.sandbox.exit import Cause

_FOREVER = sh("exec sleep 600")
_ORDER = frozenset({Need.ORDER})


def _cancel_while_running(stage: Stage) -> None:
    with stage.session(_FOREVER) as session:
        run = session.prepare(1)
        timer = threading.Timer(0.3, session.cancel)
        timer.start()
        try:
            status = run.execute().status
        finally:
            timer.join()
            run.discard()
    expect("cause", status.cause, Cause.CANCELLED)


def _cancel_before(stage: Stage) -> None:
    with stage.session(_FOREVER) as session:
        run = session.prepare(1)
        session.cancel()
        try:
            expect("cause", run.execute().status.cause, Cause.CANCELLED)
        finally:
            run.discard()


def _execute_once(stage: Stage) -> None:
    with stage.session(sh(":")) as session:
        run = session.prepare(1)
        run.execute()
        try:
            run.execute()
        except RunnerError:
            return
        finally:
            run.discard()
    raise ConformanceFailure("a run was executed twice")


def _discard_twice(stage: Stage) -> None:
    with stage.session(sh(":")) as session:
        run = session.prepare(1)
        run.execute()
        run.discard()
        run.discard()


def _discard_unused(stage: Stage) -> None:
    with stage.session(sh(":"), runs=2) as session:
        session.prepare(1).discard()
        run = session.prepare(2)
        run.execute()
        run.discard()


def _close_with_open_runs(stage: Stage) -> None:
    with stage.session(sh("echo x > left.txt"), runs=2, jobs=2) as session:
        session.prepare(1).execute()
        session.prepare(2)


def _close_at_an_error(stage: Stage) -> None:
    class Boom(Exception):
        pass

    try:
        with stage.session(sh(":")) as session:
            session.prepare(1)
            raise Boom
    except Boom:
        return
    raise ConformanceFailure("an error inside of a session was swallowed")


def _open_unused(stage: Stage) -> None:
    with stage.session(sh(":")):
        pass


def _facts(stage: Stage) -> None:
    _complete(stage, stage.backend.probe())
    with stage.session(sh(":")) as session:
        session.prepare(1).execute()
        _complete(stage, session.facts())


def _complete(stage: Stage, facts: BackendFacts) -> None:
    expect("name", facts.backend, stage.backend.name)
    if not facts.boundary:
        raise ConformanceFailure("the facts do not say what stands between the code and the host")
    both = set(facts.enforced) & set(facts.not_enforced)
    expect("limits both enforced and not", both, set())


BEHAVIOURS = (
    Behaviour("cancel ends a run", _cancel_while_running, frozenset({Need.CANCEL})),
    Behaviour("cancel before the start is a cancelled run", _cancel_before, frozenset({Need.CANCEL})),
    Behaviour("a run is executed once", _execute_once, _ORDER),
    Behaviour("discarding twice is fine", _discard_twice, _ORDER),
    Behaviour("discarding what never ran is fine", _discard_unused, _ORDER),
    Behaviour("closing removes what was not discarded", _close_with_open_runs, _ORDER),
    Behaviour("closing at an error removes everything", _close_at_an_error, _ORDER),
    Behaviour("a session without a run leaves nothing", _open_unused, _ORDER),
    Behaviour("the facts name boundary and limits", _facts, _ORDER),
)
