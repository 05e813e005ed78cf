"""Each limit of the policy, proved from inside of a container (rows 19, 20; issue point 3)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from boundaries import here
from harness import POLICY, attack_with, engine, opened, said

from runner.sandbox.backends.docker.labels import ROLE, SESSION

PROBE = r"""
import json, os, resource
def read(*paths):
    for path in paths:
        try:
            return open("/sys/fs/cgroup/" + path).read().split()
        except OSError:
            continue
    return None
def mount(target):
    for line in open("/proc/self/mountinfo"):
        fields, _, tail = line.partition(" - ")
        if fields.split()[4] == target:
            return {"type": tail.split()[0], "options": fields.split()[5].split(",")}
    return None
def size(target):
    status = os.statvfs(target)
    return [status.f_blocks * status.f_frsize, status.f_files]
def runs(folder):
    path = folder + "/program"
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
    os.chmod(path, 0o755)
    try:
        os.posix_spawn(path, [path], {})
    except PermissionError:
        return False
    os.wait()
    return True
print(json.dumps({
    "pids": read("pids.max", "pids/pids.max"),
    "memory": read("memory.max", "memory/memory.limit_in_bytes"),
    "swap": read("memory.swap.max", "memory/memory.memsw.limit_in_bytes"),
    "cpu": read("cpu.max") or [*(read("cpu/cpu.cfs_quota_us") or ()), *(read("cpu/cpu.cfs_period_us") or ())],
    "total": int(open("/proc/meminfo").readline().split()[1]) << 10,
    "limits": {name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in ("NOFILE", "FSIZE", "CORE")},
    "size": {target: size(target) for target in ("/workspace", "/tmp", "/dev/shm")},
    "mounts": {target: mount(target)
               for target in ("/", "/workspace", "/tmp", "/dev/shm", "/.runner", "/proc", "/sys")},
    "runs": {target: runs(target) for target in ("/workspace", "/tmp", "/dev/shm")},
    "ipc": [os.listdir("/dev/mqueue") if os.path.exists("/dev/mqueue") else [],
            open("/proc/sysvipc/shm").read().count("\n") if os.path.exists("/proc/sysvipc/shm") else 1],
    "init": os.readlink("/proc/1/exe") if os.access("/proc/1/exe", os.R_OK) else open("/proc/1/comm").read().strip(),
    "ids": [os.getuid(), os.getgid(), os.geteuid(), os.getegid()]}))
"""


@pytest.fixture(scope="module")
def inside() -> dict[str, Any]:
    answer: dict[str, Any] = said(attack_with(PROBE))
    return answer


def test_pids(inside: dict[str, Any]) -> None:
    """Row 20: the policy's number of processes."""
    assert inside["pids"] == here([str(POLICY.pids)])


def test_memory_without_swap(inside: dict[str, Any]) -> None:
    """Row 16: memory is the policy's, and memory with swap is the same (on cgroup v2: swap is 0)."""
    assert inside["memory"] == here([str(POLICY.memory)])
    assert inside["swap"] in here(([str(POLICY.memory)], ["0"]), "swap")
    assert (inside["total"] == POLICY.memory) is here(False, "total")


def cores(quota_and_period: list[str]) -> float | None:
    """None when there is nothing to be read."""
    if not quota_and_period:
        return None
    quota, period = map(int, quota_and_period)
    return quota / period


def test_cpus(inside: dict[str, Any]) -> None:
    """Row 15: quota over period is the policy's number of cores."""
    assert cores(inside["cpu"]) == here(POLICY.cpus)


@pytest.mark.parametrize(("name", "value"), [("NOFILE", POLICY.nofile), ("FSIZE", POLICY.file_size), ("CORE", 0)])
def test_resource_limit(inside: dict[str, Any], name: str, value: int) -> None:
    """Row 19: soft and hard."""
    assert inside["limits"][name] == [value, value]


@pytest.mark.parametrize(("target", "size", "inodes"), [
    ("/workspace", POLICY.work.size, POLICY.work.inodes), ("/tmp", POLICY.tmp.size, POLICY.tmp.inodes)])
def test_size_and_inodes(inside: dict[str, Any], target: str, size: int, inodes: int) -> None:
    """Row 19: the volume's and the scratch space's caps, as statfs tells them; the attacks show that they hold."""
    assert inside["size"][target] == [size, inodes]


def test_shared_memory_size(inside: dict[str, Any]) -> None:
    """Row 24: /dev/shm has the policy's size, private to the run."""
    assert inside["size"]["/dev/shm"][0] == POLICY.shm


@pytest.mark.parametrize(("target", "kind", "options"), [
    ("/", None, {"ro"}), ("/.runner", None, {"ro"}), ("/workspace", "tmpfs", {"rw", "nosuid", "nodev"}),
    ("/tmp", "tmpfs", {"rw", "nosuid", "nodev"}), ("/dev/shm", "tmpfs", {"rw", "nosuid", "nodev", "noexec"}),
    ("/proc", "proc", {"nosuid", "nodev", "noexec"}), ("/sys", "sysfs", {"ro", "nosuid", "nodev", "noexec"})])
def test_mount_options(inside: dict[str, Any], target: str, kind: str | None, options: set[str]) -> None:
    """Row 19: the root and our tools are read-only, and no mount honours set-id bits or devices."""
    mount = inside["mounts"][target]
    assert mount["type"] in here((kind or mount["type"],), "type")
    assert here(options) <= set(mount["options"])


def test_limits_of_the_whole_sandbox_are_the_hosts() -> None:
    """Row 16, 20: whatever is shown inside, the control groups around everything that the engine started hold it."""
    with opened({}, "true") as (session, _, _, mark):
        run = session.prepare(1)
        container, = (entry["Id"] for entry in engine().containers(
            filters={"label": [f"{SESSION}={mark}", f"{ROLE}=workload"]}))
        held = group_of(container)
        run.discard()
    assert held == (str(POLICY.memory), str(POLICY.pids), POLICY.cpus)


def group_of(container: str) -> tuple[str, str, float | None]:
    """Memory, processes and cores of a container's control group, seen from the host."""
    def read(controller: str, *files: str) -> list[str]:
        folder = f"/sys/fs/cgroup/{controller}{places[controller]}"
        return [word for file in files for word in Path(folder, file).read_text().split()]

    places = groups_with(container)
    if "memory" in places:
        return (read("memory", "memory.limit_in_bytes")[0], read("pids", "pids.max")[0],
                cores(read("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")))
    return read("", "memory.max")[0], read("", "pids.max")[0], cores(read("", "cpu.max"))


def groups_with(container: str) -> dict[str, str]:
    """Path by controller; that of version 2 has no name."""
    for table in Path("/proc").glob("[0-9]*/cgroup"):
        with suppress(FileNotFoundError, ProcessLookupError):
            lines = [line.split(":", 2) for line in table.read_text().splitlines() if container in line]
            if lines:
                return {name: path for _, names, path in lines for name in names.split(",")}
    raise AssertionError("no process of the container is in a group of its own")


def test_where_programs_can_be_run(inside: dict[str, Any]) -> None:
    """Row 19: in the payload and in /tmp, where builds need it; not in shared memory."""
    assert inside["runs"] == {"/workspace": True, "/tmp": True, "/dev/shm": False}


def test_ipc_and_pid_one_are_private(inside: dict[str, Any]) -> None:
    """Row 13, reserve: queues and segments are empty at the start, and PID 1 is our init."""
    assert (inside["ipc"], inside["init"]) == ([[], 1], "init")


def test_user(inside: dict[str, Any]) -> None:
    """Row 2: the policy's numeric user and group."""
    assert inside["ids"] == [10001] * 4
