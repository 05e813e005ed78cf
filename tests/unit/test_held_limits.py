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
    held = held_limits(tree(tmp_path, files))
    assert (held.memory, held.pids, held.cpu_milli) == wanted
    assert held.nofile > 0


def test_without_our_profile_a_process_may_name_itself():
    assert held_limits().seccomp == 0


def test_a_refused_priority_is_our_profile(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("os.setpriority", refuse)
    assert held_limits().seccomp == 1
