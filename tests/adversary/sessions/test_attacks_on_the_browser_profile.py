"""Threat: a page that took over its browser, and uses the namespaces that the profile leaves to Chromium's own sandbox
to reach more of the kernel (issue 4, points 1 and 11).

Every program here runs in the image `browser` under the policy `browser`, as the driver and Chromium do. Being root
of a user namespace of one's own is possible there; the tests show that nothing comes of it.
"""

from __future__ import annotations

from typing import Any

import pytest
from harness import attack, backend, said

from runner.sandbox.policy import load_policy

DENIED = {
    "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67, "msgget": 68,
    "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "ptrace": 101, "syslog": 103, "setuid": 105, "setgid": 106,
    "setreuid": 113, "setregid": 114, "setgroups": 116, "setresuid": 117, "setresgid": 119, "setfsuid": 122,
    "setfsgid": 123, "mknod": 133, "uselib": 134, "personality": 135, "ustat": 136, "sysfs": 139, "mlockall": 151,
    "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159, "sync": 162, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
    "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "readahead": 187, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "io_setup": 206,
    "io_destroy": 207, "io_getevents": 208, "io_submit": 209, "io_cancel": 210, "lookup_dcookie": 212,
    "remap_file_pages": 216, "clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239,
    "mq_open": 240, "mq_unlink": 241, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "migrate_pages": 256, "mknodat": 259, "splice": 275, "tee": 276, "sync_file_range": 277, "vmsplice": 278,
    "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300, "fanotify_mark": 301, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "syncfs": 306, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_restrict_self": 446,
}
"""x86-64 numbers."""

SPACES = {"NEWTIME": 0x80, "NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000,
          "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000}
OF_THE_SANDBOX = {"NEWUSER", "NEWPID", "NEWNET"}

BEGIN = f"""
import ctypes, errno, fcntl, json, os, socket
DENIED, SPACES = {DENIED!r}, {SPACES!r}
USER, PID, NET = 0x10000000, 0x20000000, 0x40000000
CLONE, UNSHARE, SECCOMP = 56, 272, 317
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    if result == 0 and number == CLONE:
        os._exit(0)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "allowed"
def attempt(body):
    try:
        body()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
def apart(body):
    # In a process of its own: its answer comes through a pipe.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(body()).encode())
        os._exit(0)
    os.close(writing)
    answer = open(reading).read()
    os.waitpid(child, 0)
    return json.loads(answer)
def as_root(body):
    # Root of a user namespace, mapped to who we are.
    uid, gid = os.getuid(), os.getgid()
    def inner():
        made = call(UNSHARE, USER)
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"0 {{uid}} 1")
        write("/proc/self/gid_map", f"0 {{gid}} 1")
        return [made, os.getuid(), body()]
    return apart(inner)
"""

DENIED_AS_ROOT = BEGIN + """
def every():
    return {name: call(number, 0, 0, 0, 0, 0, 0) for name, number in DENIED.items()}
print(json.dumps([every(), as_root(every)]))
"""

NAMESPACES = BEGIN + """
def fresh(flags):
    return apart(lambda: call(UNSHARE, flags))
print(json.dumps({
    "unshare": {name: fresh(flag) for name, flag in SPACES.items()},
    "unshare with a user namespace": {name: fresh(flag | USER) for name, flag in SPACES.items()},
    "clone": {name: call(CLONE, flag | 17, 0, 0, 0, 0) for name, flag in SPACES.items() if name != "NEWTIME"},
    "clone with a user namespace": {name: call(CLONE, flag | USER | 17, 0, 0, 0, 0)
                                    for name, flag in SPACES.items() if name != "NEWTIME"},
    "all as root": as_root(lambda: {name: fresh(flag) for name, flag in SPACES.items()})[2],
    "everything": fresh(sum(SPACES.values())), "clone3": call(435, 0, 0)}))
"""

ROOT_OF_A_NAMESPACE = BEGIN + """
SIOCSIFFLAGS, SIOCADDTUNNEL, IPT_SO_SET_REPLACE = 0x8914, 0x89F1, 64
def body():
    own_net = call(UNSHARE, NET)
    inet = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    inet6 = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    return {
        "own network": own_net, "capabilities": int(status["CapEff"], 16) != 0,
        "mount": call(165, 0, 0, 0, 0, 0), "remount": call(165, 0, 0, 0, 0x1020, 0), "detach": call(166, 0, 2),
        "packet": attempt(lambda: socket.socket(17, 3, 0)), "raw": attempt(lambda: socket.socket(2, 3, 1)),
        "netlink": attempt(lambda: socket.socket(16, 3, 0)), "vsock": attempt(lambda: socket.socket(40, 1, 0)),
        "iptables": attempt(lambda: inet.setsockopt(0, IPT_SO_SET_REPLACE, b"x" * 200)),
        "iptables, asked": attempt(lambda: inet.getsockopt(0, IPT_SO_SET_REPLACE, 200)),
        "ip6tables": attempt(lambda: inet6.setsockopt(41, IPT_SO_SET_REPLACE, b"x" * 200)),
        "arptables": attempt(lambda: inet.setsockopt(0, 96, b"x" * 200)),
        "tcp module": attempt(lambda: inet.setsockopt(6, 31, b"tls")),
        "loopback up": attempt(lambda: fcntl.ioctl(inet, SIOCSIFFLAGS, b"lo".ljust(16, b"\\0") + b"\\1" + bytes(23))),
        "tunnel": attempt(lambda: fcntl.ioctl(inet, SIOCADDTUNNEL, bytes(40))),
        "root file": attempt(lambda: write("/etc/passwd", "")),
        "kernel setting": attempt(lambda: write("/proc/sys/kernel/core_pattern", "|/x")),
        "drop caches": attempt(lambda: write("/proc/sys/vm/drop_caches", "1")),
        "device": call(133, 0, 0o020666, 0x103), "hostname": call(170, 0, 0),
    }
print(json.dumps(as_root(body)))
"""

LISTENER = BEGIN + """
class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint32)]
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]
def installed(flags):
    code = (Filter * 1)(Filter(6, 0, 0, 0x7FFF0000))
    program = Program(1, code)
    return apart(lambda: call(SECCOMP, 1, flags, ctypes.addressof(program)))
print(json.dumps({"plain": installed(0), "for all threads": installed(1), "listener": installed(8),
                  "listener for all threads": installed(8 | 16 | 1), "strict": call(SECCOMP, 0, 0, 0),
                  "attach": call(101, 16, os.getppid(), 0, 0),
                  "seize": call(101, 0x4206, os.getppid(), 0, 0), "trace me": call(101, 0, 0, 0, 0)}))
"""

OTHERS = BEGIN + """
def reached(path):
    return attempt(lambda: os.close(os.open(path, os.O_RDWR)))
def handle():
    return call(308, os.open("/proc/self/ns/net", os.O_RDONLY), NET)
print(json.dumps({
    "memory of the init": reached("/proc/1/mem"), "as root": as_root(lambda: reached("/proc/1/mem"))[2],
    "its namespaces": attempt(lambda: os.readlink("/proc/1/ns/net")),
    "setns": handle(), "setns as root": as_root(handle)[2],
    "limit of the init": call(302, 1, 0, 0, 0), "priority of the init": call(141, 0, 1, 19),
    "limit of the init as root": as_root(lambda: call(302, 1, 0, 0, 0))[2]}))
"""


def asked(program: str) -> Any:
    """What a program saw under the profile."""
    seen, = attack({"attack.py": program}, ("/usr/bin/python3", "-I", "-S", "attack.py"), policy=load_policy("browser"),
                   image=backend().own_image("browser"), timeout=60.0)
    return said(seen)


@pytest.fixture(scope="module")
def answers() -> Any:
    return asked(DENIED_AS_ROOT)


@pytest.fixture(scope="module")
def spaces() -> Any:
    return asked(NAMESPACES)


def test_what_is_not_on_the_list_is_denied(answers: Any) -> None:
    """Mounts, keys, bpf, io_uring, perf, other processes, System V IPC, ids: none exists."""
    assert answers[0] == dict.fromkeys(DENIED, "EPERM")


def test_nor_is_it_for_root_of_a_namespace(answers: Any) -> None:
    """The filter asks for no capability: who has them all in a namespace gets the same answers."""
    made, uid, seen = answers[1]
    assert (made, uid) == ("allowed", 0)
    assert seen == dict.fromkeys(DENIED, "EPERM")


@pytest.mark.parametrize("name", SPACES)
def test_three_namespaces_and_no_other(spaces: Any, name: str) -> None:
    """A user namespace can be made by anyone; the other two by its root, or together with it."""
    allowed = name in OF_THE_SANDBOX
    assert spaces["unshare with a user namespace"][name] == spaces["all as root"][name] == (
        "allowed" if allowed else "EPERM")
    assert spaces["unshare"][name] == ("allowed" if name == "NEWUSER" else "EPERM")
    if name != "NEWTIME":  # its flag is a signal's number to clone
        assert spaces["clone with a user namespace"][name] == ("allowed" if allowed else "EPERM")
        assert spaces["clone"][name] == ("allowed" if name == "NEWUSER" else "EPERM")


def test_not_even_along_with_the_three(spaces: Any) -> None:
    assert (spaces["everything"], spaces["clone3"]) == ("EPERM", "ENOSYS")


def test_root_of_a_namespace_reaches_nothing_of_the_kernel() -> None:
    """``unshare -rn`` works and is worth nothing: no mount, netfilter, interface, device or kernel setting."""
    made, uid, seen = asked(ROOT_OF_A_NAMESPACE)
    assert (made, uid, seen.pop("own network"), seen.pop("capabilities")) == ("allowed", 0, "allowed", True)
    readable_only = {name: seen.pop(name) for name in ("root file", "kernel setting", "drop caches")}
    assert set(readable_only.values()) == {"EROFS"}
    assert seen == dict.fromkeys(seen, "EPERM")


def test_nobody_can_answer_for_the_filter() -> None:
    """Filters can be added, which Chromium does; one with a listener, or a tracer, could let clone3 through."""
    seen = asked(LISTENER)
    assert (seen.pop("plain"), seen.pop("for all threads")) == ("allowed", "allowed")
    assert seen == dict.fromkeys(seen, "EPERM")


def test_other_processes_stay_out_of_reach() -> None:
    seen = asked(OTHERS)
    assert seen == {"memory of the init": "EACCES", "as root": "EACCES", "its namespaces": "EACCES", "setns": "EPERM",
                    "setns as root": "EPERM", "limit of the init": "EPERM", "priority of the init": "EPERM",
                    "limit of the init as root": "EPERM"}
