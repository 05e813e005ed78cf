"""Threat: files that are doors to the kernel or to the host (rows 3, 8, 19; escapes by /proc, /sys and devices)."""

from __future__ import annotations

from typing import Any

import pytest
from boundaries import here
from harness import attack_with, said

WRITES = (
    # Escapes that write one of these as root, if only it could be opened.
    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname", "/proc/sys/vm/panic_on_oom", "/proc/sys/fs/suid_dumpable",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/randomize_va_space",
    "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups",
    "/proc/self/oom_score_adj", "/proc/self/exe",
    "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/ksm/run",
    "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/new-file",
    "/etc/passwd", "/etc/ld.so.preload", "/etc/hosts", "/etc/hostname", "/usr/bin/python3", "/.dockerenv",
    "/new-file", "/var/tmp/new-file", "/run/new-file", "/dev/new-device", "/.runner/init", "/.runner/new-file",
)
DENIALS = {"EROFS", "EACCES", "EPERM", "ENOENT", "ETXTBSY"}
"""Which of them it is depends on whether kernel or permission looks first."""
EMPTY = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats",
         "/proc/timer_stats")
ABSENT = ("/dev/kmsg", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/fuse", "/dev/kvm", "/dev/loop-control", "/dev/sda",
          "/dev/vda", "/dev/net/tun", "/dev/vsock", "/dev/vhost-vsock", "/dev/snapshot", "/dev/userfaultfd",
          "/dev/console", "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock")
DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue", "fd", "stdin", "stdout",
           "stderr", "core"}

PROGRAM = f"""
import errno, json, os, stat
def attempt(body):
    try:
        return body()
    except OSError as error:
        return errno.errorcode[error.errno]
def write(path):
    with open(path, "r+b" if os.path.exists(path) else "xb", 0) as file:
        file.write(b"-1000" if path.endswith("oom_score_adj") else b"1")
    return "written"
def node(kind):
    os.mknod("node", 0o600 | kind, os.makedev(1, 1))
    os.unlink("node")
    return "made"
print(json.dumps({{
    "writes": {{path: attempt(lambda: write(path)) for path in {WRITES!r}}},
    "empty": {{path: attempt(lambda: len(open(path, "rb").read(1 << 16))) for path in {EMPTY!r}}},
    "absent": {{path: attempt(lambda: open(path, "rb").close()) for path in {ABSENT!r}}},
    "firmware": attempt(lambda: os.listdir("/sys/firmware")), "acpi": attempt(lambda: os.listdir("/proc/acpi")),
    "scsi": attempt(lambda: os.listdir("/proc/scsi")), "kmsg": attempt(lambda: open("/proc/kmsg").read(1)),
    "devices": os.listdir("/dev"),
    "block": attempt(lambda: node(stat.S_IFBLK)), "char": attempt(lambda: node(stat.S_IFCHR)),
    "fifo": attempt(lambda: node(stat.S_IFIFO)),
    "agents": [folder + "/" + name for folder, _, names in os.walk("/sys/fs/cgroup") for name in names
               if os.access(folder + "/" + name, os.W_OK)],
    "writable": sorted({{mount.split()[4] for mount in open("/proc/self/mountinfo")
                        if os.path.isdir(mount.split()[4]) and os.access(mount.split()[4], os.W_OK)}}),
}}))
"""


@pytest.fixture(scope="module")
def probes() -> dict[str, Any]:
    answer: dict[str, Any] = said(attack_with(PROGRAM))
    return answer


@pytest.mark.parametrize("path", WRITES)
def test_file_cannot_be_written(probes: dict[str, Any], path: str) -> None:
    """Row 3: sysrq, core_pattern, uevent_helper, release_agent, id maps, the image's files, our own tools."""
    assert probes["writes"][path] in here(DENIALS)


@pytest.mark.parametrize("path", EMPTY)
def test_kernel_memory_and_lists_are_masked(probes: dict[str, Any], path: str) -> None:
    """Row 24: masked paths read as empty, or are not there at all."""
    assert probes["empty"][path] in (0, "ENOENT", "EACCES", "EPERM")


@pytest.mark.parametrize("path", ABSENT)
def test_device_or_engine_socket_is_absent(probes: dict[str, Any], path: str) -> None:
    """Row 8: no raw memory, disk, log, tunnel or virtual machine device, and no engine to talk to."""
    assert probes["absent"][path] in here(("ENOENT", "ENXIO"))


def test_dev_holds_a_dozen_harmless_names(probes: dict[str, Any]) -> None:
    """Row 8: /dev is a list that fits on a line."""
    assert set(probes["devices"]) <= here(DEVICES)


def test_device_nodes_cannot_be_made(probes: dict[str, Any]) -> None:
    """Row 8: mknod of a block or character device is refused by the profile; a fifo is an ordinary file."""
    assert (probes["block"], probes["char"], probes["fifo"]) == ("EPERM", "EPERM", "made")


def test_firmware_acpi_and_scsi_show_nothing(probes: dict[str, Any]) -> None:
    """Row 24: directories of hardware are empty or absent."""
    assert {str(probes[name]) for name in ("firmware", "acpi", "scsi")} <= {"[]", "ENOENT", "EACCES"}
    assert probes["kmsg"] in ("EPERM", "EACCES", "ENOENT")


def test_only_the_volume_and_scratch_places_can_be_written(probes: dict[str, Any]) -> None:
    """Row 3, 19: of all mounts only the work volume, /tmp, shared memory and message queues, each with its cap."""
    assert set(probes["writable"]) == here({"/workspace", "/tmp", "/dev/shm", "/dev/mqueue"})
    assert probes["agents"] == []
