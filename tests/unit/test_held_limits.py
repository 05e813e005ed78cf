"""Limits read back from the kernel, on either cgroup version, and where nothing is shown."""

import pytest

from runner.payload.limits import held_limits

LARGE = 1 << 62


def tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return f"{root}/"


@pytest.mark.parametrize(("files", "wanted"), [
    ({"memory/memory.limit_in_bytes": "1048576", "pids/pids.max": "16", "cpu/cpu.cfs_quota_us": "50000",
      "cpu/cpu.cfs_period_us": "100000"}, (1048576, 16, 500)),
    ({"memory.max": "1048576", "pids.max": "16", "cpu.max": "200000 100000"}, (1048576, 16, 2000)),
    ({"memory.max": "max", "pids.max": "max", "cpu.max": "max 100000"}, (LARGE, LARGE, LARGE)),
    ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, (None, None, LARGE)),
    ({"memory.max": "what", "cpu.max": "1"}, (None, None, None)),
    ({}, (None, None, None)),
])
def test_what_a_cgroup_shows(tmp_path, files, wanted):
    held = held_limits(tree(tmp_path, files), meminfo=f"{tmp_path}/none")
    assert (held.memory, held.pids, held.cpu_milli) == wanted
    assert held.nofile > 0


@pytest.mark.parametrize(("text", "wanted"), [("MemTotal:         204800 kB\nMemFree: 1 kB", 204800 << 10),
                                              ("MemTotal: much", None), ("Other: 5 kB", None), ("", None)])
def test_a_kernel_without_cgroups_has_no_more_memory_than_its_limit(tmp_path, text, wanted):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(text)
    assert held_limits(f"{tmp_path}/", meminfo=str(meminfo)).memory == wanted


@pytest.mark.parametrize(("files", "swap"), [
    ({"memory/memory.limit_in_bytes": "4096", "memory/memory.memsw.limit_in_bytes": "4096"}, 0),
    ({"memory/memory.limit_in_bytes": "4096", "memory/memory.memsw.limit_in_bytes": "12288"}, 8192),
    ({"memory/memory.limit_in_bytes": "4096"}, None),
    ({"memory.max": "4096", "memory.swap.max": "0"}, 0),
    ({"memory.max": "4096", "memory.swap.max": "max"}, LARGE),
    ({}, None),
])
def test_what_may_be_swapped(tmp_path, files, swap):
    assert held_limits(tree(tmp_path, files)).swap == swap


def test_without_our_profile_a_process_may_name_itself():
    assert held_limits().seccomp == 0


def test_a_refused_priority_is_our_profile(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("os.setpriority", refuse)
    assert held_limits().seccomp == 1
