"""Threat: a system call that reaches around the sandbox (rows 3, 8, 24 and the reserve on clone3 and seccomp).

One program tries every call with harmless arguments and prints the errno of each. EPERM is the profile's answer
to what is not on its list; ENOSYS is its answer to clone3, and the runtime's to calls newer than the profile.
"""

from __future__ import annotations

from typing import Any

import pytest
from boundaries import here
from harness import attack_with, attacks_with, said

DENIED = {
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "open_tree": 428, "move_mount": 429, "mount_setattr": 442,
    "unshare": 272, "setns": 308,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "kcmp": 312,
    "process_madvise": 440,
    "keyctl": 250, "add_key": 248, "request_key": 249,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "seccomp": 317, "modify_ldt": 154, "vmsplice": 278,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "quotactl": 179, "acct": 163,
    "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "reboot": 169, "swapon": 167, "swapoff": 168, "iopl": 172, "ioperm": 173, "syslog": 103, "vhangup": 153,
    "clock_settime": 227, "settimeofday": 164, "clock_adjtime": 305, "adjtimex": 159,
    "sethostname": 170, "setdomainname": 171,
    "mbind": 237, "move_pages": 279, "migrate_pages": 256, "uselib": 134, "nfsservctl": 180, "lookup_dcookie": 212,
}
"""x86-64 numbers."""

NAMESPACES = {"CLONE_NEWNS": 0x20000, "CLONE_NEWCGROUP": 0x2000000, "CLONE_NEWUTS": 0x4000000,
              "CLONE_NEWIPC": 0x8000000, "CLONE_NEWUSER": 0x10000000, "CLONE_NEWPID": 0x20000000,
              "CLONE_NEWNET": 0x40000000}

CALLS = f"""
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    if result == 0 and number == 56:
        os._exit(0)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "allowed"
seen = {{name: call(number, 0, 0, 0, 0, 0, 0) for name, number in {DENIED!r}.items()}}
seen |= {{"clone " + name: call(56, flag | 17, 0, 0, 0, 0) for name, flag in {NAMESPACES!r}.items()}}
seen["clone plain"] = call(56, 17, 0, 0, 0, 0)
seen["clone3"] = call(435, 0, 0)
seen["listmount"] = call(458, 0, 0, 0, 0)
seen["personality ask"] = call(135, 0xFFFFFFFF)
seen["personality no randomisation"] = call(135, 0x0040000)
seen["personality read implies exec"] = call(135, 0x0400000)
seen["capset"] = call(126, 0, 0)
print(json.dumps(seen))
"""

FOREIGN = r"""
import ctypes, json, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
def x32():
    return libc.syscall(ctypes.c_long(0x40000000 | 272), 0)
def i386(number):
    # push rbx; mov eax, number; xor ebx, ebx; xor edi, edi; int 0x80; pop rbx; ret
    text = b"\x53\xb8" + number.to_bytes(4, "little") + b"\x31\xdb\x31\xff\xcd\x80\x5b\xc3"
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(text)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
def outcome(body, *arguments):
    child = os.fork()
    if child == 0:
        os._exit(7 if body(*arguments) >= 0 else 3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {7: "done", 3: "refused", -31: "killed"}.get(code, code)
print(json.dumps({"x32 unshare": outcome(x32), "i386 unshare": outcome(i386, 310),
                  "i386, number of": outcome(i386, 272), "native": outcome(os.getpid)}))
"""


@pytest.fixture(scope="module")
def errno_of() -> dict[str, str]:
    answer: dict[str, str] = said(attack_with(CALLS))
    return answer


@pytest.mark.parametrize("name", DENIED)
def test_system_call_is_denied(errno_of: dict[str, str], name: str) -> None:
    """Row 24, reserve 1: mounts, namespaces, other processes' memory, keys, bpf, io_uring, modules, clocks…"""
    assert errno_of[name] == "EPERM"


@pytest.mark.parametrize("name", NAMESPACES)
def test_clone_makes_no_namespace(errno_of: dict[str, str], name: str) -> None:
    """Reserve 1: clone makes threads and processes, but no namespace; a user namespace would give capabilities."""
    assert (errno_of[f"clone {name}"], errno_of["clone plain"]) == ("EPERM", "allowed")


def test_clone3_is_not_implemented(errno_of: dict[str, str]) -> None:
    """Reserve 1: a filter cannot see clone3's flags; ENOSYS sends the C library to clone, so threads still work."""
    assert errno_of["clone3"] == "ENOSYS"
    assert said(attack_with("""
        import threading
        done = []
        threads = [threading.Thread(target=done.append, args=(n,)) for n in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(done))
        """)) == 8


def test_a_call_newer_than_the_profile_is_not_implemented(errno_of: dict[str, str]) -> None:
    """Reserve 1: what the profile has never heard of does not exist."""
    assert errno_of["listmount"] == here("ENOSYS")


def test_personality_may_be_asked_not_changed(errno_of: dict[str, str]) -> None:
    """Row 24: address randomisation stays on, and pages that can be read do not become executable."""
    assert errno_of["personality ask"] == here("allowed")
    assert errno_of["personality no randomisation"] == errno_of["personality read implies exec"] == "EPERM"


def test_the_filter_holds_for_other_system_call_tables() -> None:
    """Row 24: x32 and 32-bit calls have other numbers; both kill the caller with SIGSYS, and only the caller."""
    killed = here("killed")
    assert said(attack_with(FOREIGN)) == {
        "x32 unshare": killed, "i386 unshare": killed, "i386, number of": killed, "native": "done"}


PRIVILEGES = r"""
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
def attempt(body):
    try:
        body()
    except OSError as error:
        return errno.errorcode[error.errno]
    except ValueError as error:
        return str(error)
    return "allowed"
def shell_as_root():
    with open("/bin/dash", "rb") as source, open("root-shell", "wb") as target:
        target.write(source.read())
    os.chmod("root-shell", 0o6755)
    return os.popen("./root-shell -c 'id -u'").read().strip()
found = [os.path.join(folder, name) for folder, _, names in os.walk("/") if not folder.startswith("/proc")
         for name in names if os.lstat(os.path.join(folder, name)).st_mode & 0o6000]
print(json.dumps({
    **{name: status.get(name, "not shown").strip()
       for name in ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Seccomp")},
    "no new privileges": libc.prctl(39, 0, 0, 0, 0),
    "set-id programs": found, "own set-id shell": shell_as_root(),
    "setuid": attempt(lambda: os.setuid(0)), "setgid": attempt(lambda: os.setgid(0)),
    "setgroups": attempt(lambda: os.setgroups([0, 27])), "chown": attempt(lambda: os.chown("attack.py", 0, 0)),
    "file capability": attempt(lambda: os.setxattr("attack.py", "security.capability", b"\x01\0\0\x02" + bytes(16))),
    "nice": attempt(lambda: os.nice(-1)),
    "real time": attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    "no new privileges off": libc.prctl(38, 0, 0, 0, 0), "keep capabilities": libc.prctl(8, 1, 0, 0, 0),
    "ambient capability": libc.prctl(47, 2, 0, 0, 0),
}))
"""


@pytest.fixture(scope="module")
def privileges() -> dict[str, Any]:
    answer: dict[str, Any] = said(attack_with(PRIVILEGES))
    return answer


@pytest.mark.parametrize(("what", "seen"), [
    ("Uid", "\t".join(["10001"] * 4)), ("Gid", "\t".join(["10001"] * 4)), ("Groups", "10001"),
    *((name, "0" * 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")),
    ("no new privileges", 1), ("Seccomp", "2"),
    ("set-id programs", []), ("own set-id shell", "10001"),
    ("setuid", "EPERM"), ("setgid", "EPERM"), ("setgroups", "EPERM"), ("chown", "EPERM"),
    ("file capability", "EPERM"), ("nice", "EPERM"), ("real time", "EPERM"),
    ("no new privileges off", -1), ("ambient capability", -1),
])
def test_there_is_no_privilege_to_gain(privileges: dict[str, Any], what: str, seen: object) -> None:
    """Row 2, 24: no capability anywhere, no way to root by set-id programs, ids, file capabilities or prctl."""
    assert privileges[what] == here(seen)


def test_core_patterns_and_crashes_leave_no_core() -> None:
    """Row 19: a crash writes no core file, neither here nor through the host's core_pattern."""
    seen = attacks_with("""
        import os, resource
        resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
        os.abort()
        """)[0]
    assert (seen.status.cause, seen.status.signal, seen.changes) == ("signaled", 6, ())
