"""The reviewed seccomp profile, read as the engine reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from seccomp_answers import ALLOWED, ENOSYS, EPERM, NEW_NAMESPACES, answer

from runner.errors import PolicyError
from runner.sandbox.seccomp import profile_names, profile_text

PROFILE: dict[str, Any] = json.loads(profile_text("workload"))
RULES: list[dict[str, Any]] = PROFILE["syscalls"]

DENIED = """
    acct add_key adjtimex bpf chroot clock_adjtime clock_settime create_module delete_module fanotify_init fanotify_mark
    finit_module fsconfig fsmount fsopen fspick init_module io_cancel io_destroy io_getevents io_pgetevents io_setup
    io_submit io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl
    lookup_dcookie mbind memfd_secret migrate_pages modify_ldt mount mount_setattr move_mount move_pages
    name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root process_madvise
    process_mrelease process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot remap_file_pages request_key
    seccomp set_mempolicy setdomainname sethostname setns settimeofday socketcall statmount listmount stime swapoff
    swapon sync sysfs syslog umount umount2 unshare uselib userfaultfd ustat vhangup vm86 vm86old vmsplice
""".split()  # noqa: SIM905 - a list to be read


def verdict(name: str, *args: int) -> str | int:
    return answer(PROFILE, name, *args)


def test_everything_is_denied_by_default() -> None:
    assert (PROFILE["defaultAction"], PROFILE["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", EPERM)
    assert {rule["action"] for rule in RULES} == {"SCMP_ACT_ALLOW", "SCMP_ACT_TRACE"}


def test_only_native_64_bit_calls_exist() -> None:
    assert PROFILE["archMap"] == [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
                                  {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []}]
    assert "architectures" not in PROFILE


@pytest.mark.parametrize("name", DENIED)
def test_what_must_stay_denied(name: str) -> None:
    assert all(name not in rule["names"] for rule in RULES)


@pytest.mark.parametrize("name", ["execve", "fork", "vfork", "futex", "epoll_wait", "openat", "pidfd_open", "rseq",
                                  "wait4", "waitid", "getrandom", "statx", "close_range", "memfd_create", "splice"])
def test_what_programs_need_is_allowed(name: str) -> None:
    assert verdict(name, 0, 0, 0) == ALLOWED


def test_clone3_is_unknown_so_that_c_libraries_fall_back() -> None:
    """Nothing else is handed to a tracer, and nobody inside can be one."""
    assert verdict("clone3", 0) == ENOSYS
    assert [rule["names"] for rule in RULES if rule["action"] == "SCMP_ACT_TRACE"] == [["clone3"]]
    assert verdict("ptrace", 0) == verdict("seccomp", 0) == EPERM


def test_no_answer_is_an_errno_of_its_own() -> None:
    """GVisor would answer EPERM instead, so that the same call would end differently there."""
    assert all("errnoRet" not in rule for rule in RULES)


@pytest.mark.parametrize("flag", NEW_NAMESPACES.values(), ids=NEW_NAMESPACES.keys())
def test_no_namespace_comes_from_clone(flag: int) -> None:
    assert verdict("clone", flag | 17) == EPERM
    assert verdict("clone", flag | 0x3D0F00) == EPERM


@pytest.mark.parametrize("flags", [17, 0x3D0F00, 0x1200011, 0x4111])
def test_threads_and_processes_come_from_clone(flags: int) -> None:
    assert verdict("clone", flags) == ALLOWED


def test_limits_are_the_callers_own() -> None:
    assert verdict("prlimit64", 0, 7, 0) == ALLOWED
    assert verdict("prlimit64", 1, 0, 0) == EPERM


@pytest.mark.parametrize(("name", "on_caller"), [
    ("sched_setscheduler", (0, 0, 0)), ("sched_setparam", (0, 0)), ("sched_setattr", (0, 0, 0)),
    ("setpriority", (0, 0, 5)), ("ioprio_set", (1, 0, 0))])
def test_priorities_are_the_callers_own(name: str, on_caller: tuple[int, ...]) -> None:
    who = 1 if name in ("setpriority", "ioprio_set") else 0
    assert verdict(name, *on_caller) == ALLOWED
    for other in (1, (1 << 32) + 1, 77):
        assert verdict(name, *on_caller[:who], other, *on_caller[who + 1:]) == EPERM
    if who:  # groups and users of processes include PID 1
        assert verdict(name, 2, *on_caller[1:]) == EPERM


@pytest.mark.parametrize(("persona", "expected"), [(0, ALLOWED), (0xFFFFFFFF, ALLOWED), (0x40000, EPERM), (8, EPERM)])
def test_the_execution_domain_stays(persona: int, expected: str | int) -> None:
    assert verdict("personality", persona) == expected


@pytest.mark.parametrize(("family", "kind", "protocol", "expected"), [
    (1, 1, 0, ALLOWED), (1, 5, 0, ALLOWED), (2, 1, 0, ALLOWED), (2, 0o2004001, 6, ALLOWED), (10, 2, 17, ALLOWED),
    (2, 2, 0, ALLOWED), (10, 1, 6, ALLOWED), (2, 3, 1, EPERM), (2, 3, 0, EPERM), (2, 1, 132, EPERM), (2, 6, 0, EPERM),
    (2, 5, 132, EPERM), (10, 2, 58, EPERM), (16, 3, 0, EPERM), (17, 3, 0, EPERM), (38, 5, 0, EPERM), (40, 1, 0, EPERM),
    (31, 3, 0, EPERM), (29, 3, 1, EPERM), (44, 2, 0, EPERM), (0, 1, 0, EPERM)])
def test_socket_families(family: int, kind: int, protocol: int, expected: str | int) -> None:
    assert verdict("socket", family, kind, protocol) == expected


def test_device_nodes_cannot_be_made() -> None:
    for call, prefix in (("mknod", (0,)), ("mknodat", (0, 0))):
        assert [verdict(call, *prefix, kind | 0o666, 0) for kind in (0o010000, 0o100000, 0o140000, 0)] == [ALLOWED] * 4
        assert [verdict(call, *prefix, kind | 0o666, 0) for kind in (0o020000, 0o060000)] == [EPERM] * 2


def test_a_difference_reads_well() -> None:
    """Sorted, no name twice, one a line in the long list."""
    names = RULES[0]["names"]
    assert names == sorted(set(names))
    lines = {line.strip().removesuffix(",") for line in profile_text("workload").splitlines()}
    assert {f'"{name}"' for name in names} <= lines
    assert not set(names) & {name for rule in RULES[1:] for name in rule["names"]}


def test_only_profiles_of_ours_have_a_name() -> None:
    assert profile_names() == ("browser", "workload")
    for name in ("unconfined", "../seccomp/workload", "workload.json", ""):
        with pytest.raises(PolicyError, match="there is no seccomp profile"):
            profile_text(name)
