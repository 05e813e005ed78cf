"""The one rule that turns facts into a cause."""

import pytest

from runner.sandbox.exit import Cause, ExitFacts, ExitStatus, StopReason, Trailer, classify_exit


def facts(trailer=None, **more):
    return ExitFacts(trailer=trailer, engine_exit_code=more.pop("engine", 0), **more)


def exited(code):
    return Trailer("exited", code)


@pytest.mark.parametrize("code", [0, 1, 7, 125, 126, 127, 137, 139, 143, 255])
def test_an_exit_code_is_what_the_program_chose(code):
    status = classify_exit(facts(exited(code), engine=code))
    assert (status.cause, status.returncode, status.signal, status.signal_hint) == (Cause.EXITED, code, None, None)


@pytest.mark.parametrize("signal", [6, 9, 11, 15])
def test_a_signal_is_a_signal(signal):
    status = classify_exit(facts(Trailer("signaled", signal), engine=128 + signal))
    assert (status.cause, status.returncode, status.signal) == (Cause.SIGNALED, 128 + signal, signal)


def test_a_shell_only_claims_a_signal():
    status = classify_exit(facts(exited(139), shell_text=True))
    assert (status.cause, status.returncode, status.signal, status.signal_hint) == (Cause.EXITED, 139, None, 11)


@pytest.mark.parametrize("code", [0, 1, 127, 128, 200])
def test_a_shell_claims_nothing_outside_the_signal_range(code):
    assert classify_exit(facts(exited(code), shell_text=True)).signal_hint is None


def test_the_oom_flag_alone_proves_nothing():
    status = classify_exit(facts(exited(0), oom_flag=True))
    assert (status.cause, status.returncode, status.child_oom) == (Cause.EXITED, 0, True)


@pytest.mark.parametrize("trailer", [None, Trailer("signaled", 9)])
def test_the_oom_flag_with_a_killed_main_process_is_oom(trailer):
    status = classify_exit(facts(trailer, oom_flag=True, engine=137))
    assert (status.cause, status.returncode, status.child_oom) == (Cause.OOM_KILLED, 137, False)


def test_the_oom_flag_with_another_signal_is_that_signal():
    status = classify_exit(facts(Trailer("signaled", 11), oom_flag=True))
    assert (status.cause, status.signal, status.child_oom) == (Cause.SIGNALED, 11, True)


@pytest.mark.parametrize("engine", [0, 1, 125, 137, 139])
def test_no_trailer_and_no_flag_is_never_guessed_from(engine):
    status = classify_exit(facts(None, engine=engine))
    assert (status.cause, status.returncode) == (Cause.INIT_LOST, None)


@pytest.mark.parametrize("trailer", [None, exited(1), exited(137), Trailer("signaled", 9)])
def test_what_we_stopped_is_ours_whatever_came_after(trailer):
    status = classify_exit(facts(trailer, stopped=StopReason.DEADLINE, engine=137))
    assert (status.cause, status.returncode) == (Cause.TIMED_OUT, 124)
    assert classify_exit(facts(trailer, stopped=StopReason.OUTPUT)).cause is Cause.OUTPUT_LIMIT
    assert classify_exit(facts(trailer, stopped=StopReason.CANCEL)).cause is Cause.CANCELLED


def test_a_file_size_signal_is_a_disk_limit():
    assert classify_exit(facts(Trailer("signaled", 25))).cause is Cause.DISK_LIMIT


def test_not_started_is_told_from_an_exit_of_127():
    missing = classify_exit(facts(Trailer("not_started", 2), engine=127))
    assert (missing.cause, missing.returncode) == (Cause.NOT_STARTED, None)
    assert "No such file" in missing.detail
    refused = classify_exit(facts(None, start_refused="no such image"))
    assert refused == ExitStatus(Cause.NOT_STARTED, None, engine_exit_code=0, detail="no such image")
