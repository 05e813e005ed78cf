"""The assembly line, over the fake backend."""

import pytest

from runner.controller.observe import RunsCut, observe
from runner.errors import EngineUnavailable, SeedMismatch
from runner.payload.seal import SealLimits, seal
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.policy import load_policy


@pytest.fixture
def sealed(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    return seal(tmp_path, SealLimits(files=10, bytes=1000, depth=5, name_bytes=255, path_bytes=4096,
                                     portable_names=False))


def plan(runs, **more):
    return Plan(argv=("x",), cwd=".", env=(), policy=load_policy("default"), timeout=5.0, runs=runs, **more)


def run(backend, sealed, the_plan, progress=lambda _: None):
    with backend.open(the_plan, sealed) as session:
        return observe(session, the_plan, progress)


@pytest.mark.parametrize(("jobs", "ahead"), [(1, 0), (1, 2), (4, 2), (3, 0)])
def test_every_run_is_observed_once_and_in_order(sealed, jobs, ahead):
    script = [FakeRun(ExitStatus(Cause.EXITED, code), stdout=b"%d" % code) for code in range(9)]
    seen = run(FakeBackend(script), sealed, plan(9, jobs=jobs, ahead=ahead))
    assert [item.index for item in seen] == list(range(1, 10))
    assert [item.status.returncode for item in seen] == list(range(9))


def test_a_fault_keeps_what_was_finished_and_discards_the_rest(sealed):
    script = [FakeRun(), FakeRun(), FakeRun(execute_error=EngineUnavailable("gone")), FakeRun()]
    backend = FakeBackend(script)
    with pytest.raises(RunsCut) as cut:
        run(backend, sealed, plan(6, ahead=1))
    assert isinstance(cut.value.__cause__, EngineUnavailable)
    assert [item.index for item in cut.value.finished] == [1, 2]
    prepared = {call.run for call in backend.calls if call.name == "prepare"}
    discarded = {call.run for call in backend.calls if call.name == "discard"}
    assert prepared == discarded


def test_a_copy_that_is_not_the_seal_is_never_run(sealed):
    backend = FakeBackend([FakeRun(prepare_error=SeedMismatch("differs"))])
    with pytest.raises(RunsCut) as cut:
        run(backend, sealed, plan(1, ahead=0))
    assert isinstance(cut.value.__cause__, SeedMismatch)
    assert "execute" not in {call.name for call in backend.calls}


def test_an_interrupt_in_the_progress_ends_the_session(sealed):
    def stop(_):
        raise KeyboardInterrupt

    backend = FakeBackend([FakeRun(), FakeRun(until_cancelled=True)])
    with pytest.raises(RunsCut) as cut:
        run(backend, sealed, plan(4, jobs=2, ahead=1), stop)
    assert isinstance(cut.value.__cause__, KeyboardInterrupt)
    assert "cancel" in {call.name for call in backend.calls}


def test_the_first_execution_is_told_once_and_before_anything_is_over(sealed):
    told = []
    backend = FakeBackend([FakeRun()] * 3)
    with backend.open(plan(3, ahead=1), sealed) as session:
        observe(session, plan(3, ahead=1), lambda seen: told.append(seen.index), lambda: told.append("running"))
    assert told == ["running", 1, 2, 3]
