from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import EngineUnavailable, SeedMismatch, SetupError, StewardLost
from runner.payload.fingerprint import Change
from runner.payload.seal import DEFAULT_LIMITS, SealedPayload, seal
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.backends.fake import Call, FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.policy import load_policy

PLAN = Plan(argv=("anything",), cwd=".", env=(), policy=load_policy("default"), timeout=1, runs=3)
CRASH = ExitStatus(Cause.SIGNALED, 139, 11)


@pytest.fixture
def sealed(tmp_path: Path) -> SealedPayload:
    (tmp_path / "file").write_text("x")
    return seal(tmp_path, DEFAULT_LIMITS)


def test_runs_follow_the_script_and_the_last_one_repeats(sealed: SealedPayload) -> None:
    change = Change("added", b"core", "file")
    backend = FakeBackend([FakeRun(CRASH, b"out", b"err", changes=(change,)), FakeRun(note="second")])
    with backend.open(PLAN, sealed) as session:
        runs = [session.prepare(index) for index in (1, 2, 3)]
        executions = [run.execute() for run in runs]
        aftermaths = [run.inspect() for run in runs]
    assert [execution.status for execution in executions] == [CRASH, *[ExitStatus(Cause.EXITED, 0)] * 2]
    assert (executions[0].stdout.kept, executions[0].stderr.kept) == (b"out", b"err")
    assert [(seen.changes, seen.after, seen.note) for seen in aftermaths] == [
        ((change,), None, ""), ((), sealed.fingerprint, "second"), ((), sealed.fingerprint, "second")]
    assert [run.before for run in runs] == [sealed.fingerprint] * 3


def test_calls_are_recorded_in_order(sealed: SealedPayload) -> None:
    backend = FakeBackend()
    backend.probe()
    backend.resolve_image(None)
    with backend.open(PLAN, sealed) as session:
        run = session.prepare(1)
        run.execute()
        run.inspect()
        run.discard()
    assert backend.calls == (
        Call("probe"), Call("resolve_image"), Call("open"), Call("prepare", 1), Call("execute", 1), Call("ran", 1),
        Call("inspect", 1), Call("discard", 1), Call("close"))


def test_errors_come_where_the_script_says(sealed: SealedPayload) -> None:
    with pytest.raises(EngineUnavailable), FakeBackend(open_error=EngineUnavailable("gone")).open(PLAN, sealed):
        pass
    backend = FakeBackend([FakeRun(prepare_error=SeedMismatch("seed")), FakeRun(execute_error=StewardLost("lost")),
                           FakeRun(inspect_error=SetupError("look"))])
    with backend.open(PLAN, sealed) as session:
        with pytest.raises(SeedMismatch):
            session.prepare(1)
        with pytest.raises(StewardLost):
            session.prepare(2).execute()
        run = session.prepare(3)
        run.execute()
        with pytest.raises(SetupError, match="look"):
            run.inspect()


def test_the_policys_output_caps_hold(sealed: SealedPayload) -> None:
    capped = PLAN.policy.model_copy(update={"output": PLAN.policy.output.model_copy(update={"stdout": 3})})
    with FakeBackend([FakeRun(stdout=b"1234")]).open(replace(PLAN, policy=capped), sealed) as session:
        assert session.prepare(1).execute().status.cause is Cause.OUTPUT_LIMIT


def test_a_closed_session_prepares_nothing(sealed: SealedPayload) -> None:
    with FakeBackend().open(PLAN, sealed) as session:
        pass
    with pytest.raises(SetupError, match="closed"):
        session.prepare(1)


def test_facts_and_script_are_given() -> None:
    facts = BackendFacts(backend="docker", version="1")
    assert FakeBackend(facts=facts).probe() is facts
    with pytest.raises(ValueError, match="at least one"):
        FakeBackend([])
