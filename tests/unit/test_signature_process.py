from __future__ import annotations

import pytest
from observations import exited, signaled

from runner.oracles.contract import ProcessSignature
from runner.oracles.signature.process import process_mismatch, process_signature, signal_name
from runner.sandbox.exit import Cause, ExitStatus

SEGV = ProcessSignature("posix_signal", 11, "SIGSEGV")


@pytest.mark.parametrize(("status", "signature"), [
    (signaled(11), SEGV),
    (signaled(63), ProcessSignature("posix_signal", 63)),
    (exited(139), ProcessSignature("exit_code", 139)),
    (exited(139, hint=11), ProcessSignature("exit_code", 139)),
    (exited(1), ProcessSignature("exit_code", 1)),
    (exited(0), None),
    (exited(124, cause=Cause.TIMED_OUT), None),
    (signaled(9, Cause.OOM_KILLED), None),
    (signaled(25, Cause.DISK_LIMIT), None),
    (exited(137, cause=Cause.OUTPUT_LIMIT), None),
    (exited(None, cause=Cause.INIT_LOST), None),
])
def test_what_is_learned(status: ExitStatus, signature: ProcessSignature | None) -> None:
    assert process_signature(status) == signature


@pytest.mark.parametrize(("recorded", "status", "met"), [
    (SEGV, signaled(11), True),
    (ProcessSignature("posix_signal", 11, "other name"), signaled(11), True),
    (SEGV, signaled(6), False),
    (SEGV, exited(139), False),
    (SEGV, exited(139, hint=11), False),
    (SEGV, exited(0), False),
    (ProcessSignature("posix_signal", 25), signaled(25, Cause.DISK_LIMIT), False),
    (ProcessSignature("posix_signal", 9), signaled(9, Cause.OOM_KILLED), False),
    (ProcessSignature("exit_code", 139), exited(139), True),
    (ProcessSignature("exit_code", 139), exited(139, hint=11), True),
    (ProcessSignature("exit_code", 139), signaled(11), False),
    (ProcessSignature("exit_code", 139, signal_as_exit=True), signaled(11), True),
    (ProcessSignature("exit_code", 139, signal_as_exit=True), exited(139), True),
    (ProcessSignature("exit_code", 139, signal_as_exit=True), signaled(6), False),
    (ProcessSignature("posix_signal", 139, signal_as_exit=True), signaled(11), False),
    (ProcessSignature("windows_status", 0xC0000005), exited(5), False),
])
def test_what_is_met(recorded: ProcessSignature, status: ExitStatus, met: bool) -> None:
    assert (process_mismatch(recorded, status) is None) is met


def test_a_shells_claim_is_named_as_one() -> None:
    why = process_mismatch(SEGV, exited(139, hint=11))
    assert why == ("exit code 139, which is the shell's claim of signal 11 (SIGSEGV), "
                   "recorded was signal 11 (SIGSEGV)")


def test_a_number_without_a_name() -> None:
    assert signal_name(200) is None
