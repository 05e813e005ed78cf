"""A report asks, the policy decides."""

from __future__ import annotations

import math

import pytest

from runner.case import RequestedLimits
from runner.errors import ReportError
from runner.sandbox.policy import Clamp, clamp, load_policy

MIB = 1 << 20
DEFAULT = load_policy("default")


def test_no_asks_change_nothing() -> None:
    assert clamp(DEFAULT, RequestedLimits()) == (DEFAULT, ())


def test_less_is_granted() -> None:
    asks = RequestedLimits(memory=800 * MIB, pids=50, cpus=0.5, tmp=MIB, work=300 * MIB)
    policy, clamps = clamp(DEFAULT, asks)
    assert (policy.memory, policy.pids, policy.cpus) == (800 * MIB, 50, 0.5)
    assert (policy.tmp.size, policy.work.size, clamps) == (MIB, 300 * MIB, ())


def test_more_is_not_and_is_said() -> None:
    asks = RequestedLimits(memory=64 << 30, pids=1024, cpus=8, tmp=1 << 30, work=1 << 40)
    policy, clamps = clamp(DEFAULT, asks)
    assert policy == DEFAULT
    assert clamps == (Clamp("memory", 64 << 30, 1 << 30), Clamp("pids", 1024, 512), Clamp("cpus", 8, 1.0),
                      Clamp("tmp", 1 << 30, 128 * MIB), Clamp("work", 1 << 40, 512 * MIB))


def test_disks_shrink_with_memory() -> None:
    policy, clamps = clamp(DEFAULT, RequestedLimits(memory=512 * MIB), payload_bytes=20 * MIB)
    assert (policy.memory, policy.work.size, policy.tmp.size) == (512 * MIB, 256 * MIB, 64 * MIB)
    assert (policy.payload.bytes, clamps) == (256 * MIB, ())


def test_the_payload_keeps_its_room() -> None:
    policy, _ = clamp(DEFAULT, RequestedLimits(memory=128 * MIB), payload_bytes=100 * MIB)
    assert (policy.work.size, policy.tmp.size) == (100 * MIB, 16 * MIB)


def test_an_ask_that_shrank_with_memory_is_said() -> None:
    _, clamps = clamp(DEFAULT, RequestedLimits(memory=512 * MIB, tmp=128 * MIB))
    assert clamps == (Clamp("tmp", 128 * MIB, 64 * MIB),)


@pytest.mark.parametrize("asks", [RequestedLimits(memory=64 * MIB), RequestedLimits(work=99 * MIB)])
def test_no_room_for_the_payload_is_an_error_of_the_report(asks: RequestedLimits) -> None:
    with pytest.raises(ReportError, match="no room for its payload"):
        clamp(DEFAULT, asks, payload_bytes=100 * MIB)


def test_a_payload_that_the_policy_refuses_is_left_to_sealing() -> None:
    assert clamp(DEFAULT, RequestedLimits(pids=9), payload_bytes=10**5000)[0].pids == 9


@pytest.mark.parametrize("asks", [
    RequestedLimits(memory=0), RequestedLimits(pids=-1), RequestedLimits(cpus=math.nan),
    RequestedLimits(cpus=-math.inf), RequestedLimits(memory=-10**5000)])
def test_asks_that_are_no_limits_are_refused(asks: RequestedLimits) -> None:
    with pytest.raises(ReportError, match="not positive"):
        clamp(DEFAULT, asks)


@pytest.mark.parametrize("asks", [
    RequestedLimits(memory=10**5000, pids=10**400, cpus=math.inf, tmp=10**30, work=10**300)])
def test_absurd_asks_are_clamped(asks: RequestedLimits) -> None:
    policy, clamps = clamp(DEFAULT, asks)
    assert policy == DEFAULT
    assert {each.name for each in clamps} == {"memory", "pids", "cpus", "tmp", "work"}


def test_a_tiny_ask_never_becomes_no_limit_at_all() -> None:
    """A tmpfs of less than a page would be rounded to zero blocks, which means unlimited."""
    policy, _ = clamp(DEFAULT, RequestedLimits(memory=1, pids=1, cpus=1e-9, tmp=1, work=1))
    assert (policy.memory, policy.pids, policy.cpus) == (6 * MIB, 1, 0.01)
    assert (policy.tmp.size, policy.work.size) == (4096, 4096)
