"""The profile that a browser and its driver run under: the workload's, less what no browser needs, and the three
namespaces of Chromium's own sandbox.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from seccomp_answers import ALLOWED, ENOSYS, EPERM, NEW_NAMESPACES, answer

from runner.sandbox.seccomp import profile_text

PROFILE: dict[str, Any] = json.loads(profile_text("browser"))
WORKLOAD: dict[str, Any] = json.loads(profile_text("workload"))
RULES: list[dict[str, Any]] = PROFILE["syscalls"]
OF_THE_SANDBOX = ("NEWUSER", "NEWPID", "NEWNET")
CONDITIONAL = {"clone", "clone3", "getsockopt", "ioctl", "ioprio_set", "prlimit64", "sched_setattr", "sched_setparam",
               "sched_setscheduler", "seccomp", "setpriority", "setsockopt", "socket", "socketpair", "unshare"}


def verdict(name: str, *args: int) -> str | int:
    return answer(PROFILE, name, *args)


def names_of(profile: dict[str, Any]) -> set[str]:
    return {name for rule in profile["syscalls"] for name in rule["names"]}


def test_it_is_denied_by_default_on_native_calls_only() -> None:
    assert {key: value for key, value in PROFILE.items() if key != "syscalls"} == {
        key: value for key, value in WORKLOAD.items() if key != "syscalls"}


def test_three_calls_are_all_that_a_workload_has_not() -> None:
    assert names_of(PROFILE) - names_of(WORKLOAD) == {"chroot", "seccomp", "unshare"}


def test_what_a_condition_decides_nothing_else_does() -> None:
    assert {name for rule in RULES[1:] for name in rule["names"]} == CONDITIONAL
    assert not CONDITIONAL & set(RULES[0]["names"])
    assert RULES[0]["names"] == sorted(set(RULES[0]["names"]))


@pytest.mark.parametrize("name", ["shmget", "msgget", "semget", "mq_open", "setuid", "setgid", "setgroups", "setresuid",
                                  "mknod", "mknodat", "personality", "setxattr", "splice", "tee", "syncfs", "mlockall",
                                  "mount", "setns", "ptrace", "pivot_root", "keyctl", "bpf", "io_uring_setup"])
def test_no_browser_needs_it(name: str) -> None:
    assert verdict(name, 0, 0, 0) == EPERM


@pytest.mark.parametrize("name", NEW_NAMESPACES)
def test_of_the_namespaces_three_can_be_made(name: str) -> None:
    expected = ALLOWED if name in OF_THE_SANDBOX else EPERM
    assert verdict("clone", NEW_NAMESPACES[name] | 17) == verdict("unshare", NEW_NAMESPACES[name]) == expected


@pytest.mark.parametrize("name", sorted(set(NEW_NAMESPACES) - set(OF_THE_SANDBOX)))
def test_none_of_the_others_comes_along(name: str) -> None:
    allowed = sum(NEW_NAMESPACES[each] for each in OF_THE_SANDBOX)
    assert verdict("clone", allowed | 17) == verdict("unshare", allowed) == ALLOWED
    assert verdict("clone", allowed | NEW_NAMESPACES[name] | 17) == EPERM
    assert verdict("unshare", allowed | NEW_NAMESPACES[name]) == EPERM


@pytest.mark.parametrize("flag", [0x80, 0x200, 0x400, 0x40000], ids=["NEWTIME", "FS", "FILES", "SYSVSEM"])
def test_unshare_makes_namespaces_only(flag: int) -> None:
    assert verdict("unshare", flag) == verdict("unshare", flag | 0x10000000) == EPERM


@pytest.mark.parametrize("flags", [17, 0x3D0F00, 0x1200011, 0x4111])
def test_threads_and_processes_come_from_clone(flags: int) -> None:
    assert verdict("clone", flags) == ALLOWED


def test_clone3_is_unknown_and_nobody_inside_can_answer_it() -> None:
    """A filter with a listener would rank above the missing tracer, and let the call through."""
    assert verdict("clone3", 0) == ENOSYS
    assert [rule["names"] for rule in RULES if rule["action"] == "SCMP_ACT_TRACE"] == [["clone3"]]
    set_filter, new_listener, tsync_esrch = 1, 8, 16
    assert [verdict("seccomp", set_filter, flags, 0) for flags in (0, 1, 2, 4, 5)] == [ALLOWED] * 5
    assert verdict("seccomp", set_filter | 1 << 32, 1, 0) == ALLOWED  # the kernel looks at 32 bits of it
    for flags in (new_listener, new_listener | 1, new_listener | tsync_esrch | 1, 32, (1 << 32) | new_listener):
        assert verdict("seccomp", set_filter, flags, 0) == EPERM
    assert [verdict("seccomp", operation, 0, 0) for operation in (0, 2, 3)] == [EPERM] * 3


@pytest.mark.parametrize(("level", "option", "expected"), [
    (1, 15, ALLOWED), (1, 26, ALLOWED), (6, 1, ALLOWED), (6, 11, ALLOWED), (0, 1, ALLOWED), (0, 35, ALLOWED),
    (41, 26, ALLOWED), (41, 67, ALLOWED), (41, 66, ALLOWED),
    (0, 64, EPERM), (0, 65, EPERM), (0, 96, EPERM), (0, 128, EPERM), (41, 64, EPERM), (41, 65, EPERM), (41, 68, EPERM),
    (6, 19, EPERM), (6, 31, EPERM), (17, 100, EPERM), (255, 1, EPERM), (263, 1, EPERM), (270, 1, EPERM),
    (282, 1, EPERM)])
def test_options_of_a_socket(level: int, option: int, expected: str | int) -> None:
    """Root of a network namespace of its own could hand tables to netfilter by options 64 and up."""
    for call in ("getsockopt", "setsockopt"):
        assert verdict(call, 3, level, option, 0, 0) == expected
        assert verdict(call, 3, level | 1 << 32, option | 1 << 32, 0, 0) == expected  # 32 bits count


@pytest.mark.parametrize(("request_", "expected"), [
    (0x5421, ALLOWED), (0x5451, ALLOWED), (0x5401, ALLOWED), (0x541B, ALLOWED), (0x5413 | 1 << 32, ALLOWED),
    (0x8914, EPERM), (0x89F1, EPERM), (0x40049409, EPERM), (0xAE01, EPERM), (0xC0109428, EPERM), (0x6401, EPERM)])
def test_requests_to_a_descriptor(request_: int, expected: str | int) -> None:
    """Neither network interfaces (0x89) nor file systems, graphics or virtual machines."""
    assert verdict("ioctl", 3, request_, 0) == expected


@pytest.mark.parametrize("call", ["socket", "socketpair", "prlimit64", "sched_setattr", "sched_setparam",
                                  "sched_setscheduler", "setpriority", "ioprio_set"])
def test_the_other_conditions_are_the_workloads(call: str) -> None:
    own = [rule for rule in RULES if call in rule["names"]]
    assert own
    assert own == [rule for rule in WORKLOAD["syscalls"] if call in rule["names"]]
