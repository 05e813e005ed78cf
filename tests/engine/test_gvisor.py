"""gVisor: ``strict`` uses it by itself, its filter and its limits are proved, and the attacks come out as declared.

All on an engine of our own, in a network namespace of its own. ``runsc`` is a package (``tools/packages``); without it
these tests fail. What differs from a shared kernel is in ``tests/adversary/boundaries.py``.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import Ran, runner
from second_engine import SecondEngine, second_engine

RUNSC = ("/usr/bin/runsc", "--platform=ptrace", "--network=none")
RUNTIMES = {"runsc": (*RUNSC, "--oci-seccomp"), "runsc-unfiltered": RUNSC, "runsc-runc": ("/usr/sbin/runc",),
            "runsc-uncapped": (*RUNSC, "--oci-seccomp", "--ignore-cgroups")}
ATTACKS = Path(__file__).parents[1] / "adversary"
PROBE = """
import ctypes, errno, json, os, threading
libc = ctypes.CDLL(None, use_errno=True)
CLONE = 56
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *map(ctypes.c_long, arguments))
    if result == 0 and number == CLONE:
        os._exit(0)
    return errno.errorcode[ctypes.get_errno()] if result == -1 else "allowed"
done = []
threads = [threading.Thread(target=done.append, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"unshare": call(272, 0), "kcmp": call(312, 1, 1, 0, 0, 0), "keyctl": call(250, 0, 0, 0),
                  "netlink": call(41, 16, 3, 0), "clone3": call(435, 0, 0), "threads": len(done),
                  "user namespace": call(CLONE, 0x10000000 | 17, 0, 0, 0, 0)}))
raise SystemExit(3)
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[SecondEngine]:
    with second_engine(RUNTIMES) as one:
        built = runner("images", "build", "command", "steward", env=one.env)
        assert built.code == 0, built.err
        yield one


class Case:
    """A recorded failure whose program looks around, and its replays on that engine."""

    def __init__(self, engine: SecondEngine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self.payload = folder / "payload"
        self.payload.mkdir()
        (self.payload / "probe.py").write_text(PROBE)
        done = self.run("record", "--payload", self.payload, "--command", "python3 probe.py", "--match", "threads",
                        "--policy", "strict", "-o", folder / "report.json")
        assert done.code == 0, done.err

    def run(self, *words: object) -> Ran:
        return runner(*words, env=self._engine.env, cwd=self._folder)

    def replay(self, policy: str) -> tuple[int, dict[str, Any], Path]:
        """Exit code, evidence, run directory."""
        out = self._folder / f"out-{len(list(self._folder.iterdir()))}"
        done = self.run("replay", "report.json", "--payload", self.payload, "--yes", "--json", "--policy", policy,
                        "--out", out)
        return done.code, done.json, out

    def policy(self, runtime: str, *accept: str) -> str:
        """A complete policy like strict that names a runtime."""
        fields = yaml.safe_load(self.run("policy", "show", "strict").out)
        del fields["runtime_preferred"]
        fields |= {"name": "mine", "runtime": runtime} | ({"accept_unenforced": list(accept)} if accept else {})
        path = self._folder / f"{runtime}.yaml"
        path.write_text(yaml.safe_dump(fields))
        return str(path)


@pytest.fixture(scope="module")
def case(engine: SecondEngine, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(engine, tmp_path_factory.mktemp("gvisor"))


def seen_by(out: Path) -> Any:
    """What the program printed."""
    return json.loads((out / "stdout-1.bin").read_text())


def test_strict_uses_gvisor_with_every_limit_proved(case: Case) -> None:
    """The evidence names runtime, boundary and what was read back; the program sees the filter, and has threads."""
    code, told, out = case.replay("strict")
    assert (code, told["policy"]["effective"]["runtime"]) == (0, "runsc")
    assert told["engine"]["boundary"] == "container (runsc, user-space kernel, seccomp applied)"
    assert told["engine"]["not_enforced"] == []
    assert {"capabilities", "core", "cpus", "file_size", "memory", "network", "no_new_privileges", "nofile", "pids",
            "read_only_root", "seccomp", "shm", "swap", "tmp", "user", "work"} == set(told["engine"]["enforced"])
    assert (told["samples"][0]["cpu_seconds"], told["samples"][0]["peak_memory"]) == (None, None)
    assert seen_by(out) == {"unshare": "EPERM", "kcmp": "EPERM", "keyctl": "EPERM", "netlink": "EPERM",
                            "clone3": "ENOSYS", "threads": 8, "user namespace": "EPERM"}


def test_strict_without_the_filter_is_refused_before_anything_ran(engine: SecondEngine, case: Case) -> None:
    """The steward under the same runtime tells; the fix is a word in the runtime's arguments."""
    code, told, _ = case.replay(case.policy("runsc-unfiltered"))
    assert (code, told["verdict"], told["samples"]) == (2, "no_verdict", [])
    assert told["error"].startswith("seccomp is not enforced")
    assert "add --oci-seccomp to the arguments of the runtime" in told["reasons"][1]
    assert told["engine"]["not_enforced"] == ["seccomp"]
    assert told["engine"]["boundary"] == "container (runsc-unfiltered, user-space kernel, seccomp not applied)"


def test_policy_may_accept_to_go_without_the_filter(case: Case) -> None:
    """Then the evidence says so, and the program sees that it is so."""
    code, told, out = case.replay(case.policy("runsc-unfiltered", "seccomp"))
    assert (code, told["engine"]["not_enforced"]) == (0, ["seccomp"])
    assert seen_by(out)["unshare"] == "allowed"


@pytest.mark.parametrize(("runtime", "problem"), [
    ("runsc-uncapped", "memory is not enforced"),
    ("runsc-runc", "runtime is not enforced: runsc-runc runs on the kernel"),
    ("kata", "the policy mine needs the runtime kata, the engine has")])
def test_runtime_that_is_not_what_it_should_be_is_refused(case: Case, runtime: str, problem: str) -> None:
    """One without a cgroup, one that is runc in disguise, and one that is not there."""
    code, told, _ = case.replay(case.policy(runtime))
    assert (code, told["samples"], told["error"][:len(problem)]) == (2, [], problem)


def test_strict_on_an_engine_without_gvisor_says_that_the_kernel_is_shared(case: Case, tmp_path: Path) -> None:
    """The rule is: used where the engine has it; where not, the evidence warns and names the boundary."""
    done = runner("replay", case.payload.parent / "report.json", "--payload", case.payload, "--yes", "--json",
                  "--policy", "strict", "--out", tmp_path / "out")
    told = done.json
    assert (done.code, told["engine"]["boundary"]) == (0, "container (runc, shared kernel)")
    assert any("prefers the runtime runsc" in warning for warning in told["warnings"])


def test_doctor_finds_gvisor_and_a_missing_filter(engine: SecondEngine) -> None:
    found = {finding["name"]: finding for finding in runner("doctor", "--json", env=engine.env).json["checks"]}
    assert found["gvisor"]["status"] == "ok"


class Suite:
    """Some of the attacks, running in a process of their own."""

    def __init__(self, files: Sequence[Path], env: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env)

    def finish(self) -> tuple[int, str]:
        """Exit code and all it said."""
        return self._process.wait(), self._log.read_text(errors="replace")

    def end(self) -> None:
        """Interrupt it, as Ctrl-C does, if it is still there."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()


@pytest.fixture(scope="module")
def suites(engine: SecondEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Suite, ...]]:
    """Every attack of ``tests/adversary`` but those on browser sessions, whose containers have the engine's own
    runtime; in two processes at once.
    """
    files = sorted(ATTACKS.glob("test_*.py"))
    env = {**engine.env, "SANDBOX_RUNNER_TEST_RUNTIME": "runsc"}
    logs = tmp_path_factory.mktemp("attacks")
    started = tuple(Suite(files[part::2], env, logs / f"{part}") for part in range(2))
    try:
        yield started
    finally:
        for suite in started:
            suite.end()


@pytest.mark.parametrize("part", range(2))
def test_attacks_come_out_inside_gvisor_as_declared(suites: tuple[Suite, ...], part: int) -> None:
    """The whole adversary suite once more, under runsc, with ``boundaries.py`` as the only differences."""
    code, said = suites[part].finish()
    assert code == 0, said[-20_000:]
