"""Stored evidence without an engine: a real replay over the fake backend, written to a run directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner.case import RecordedEnvironment, RecordedExecution
from runner.controller.bounds import seal_limits
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.evidence.check import Evidence, open_evidence
from runner.evidence.observation import Artifact
from runner.oracles.contract import Contract, PythonSignature
from runner.payload.fingerprint import Change
from runner.payload.seal import seal
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sandbox.policy import load_policy
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.environment import environment_sha256
from runner.sources.modes import modes_of
from runner.sources.native.write import write_native
from runner.workloads.command import CommandWorkload

IMAGE = ResolvedImage(id="sha256:" + "e5" * 32, name="sandbox-runner/command:test", platform="linux/amd64",
                      matched="id", env=("PATH=/usr/bin",))
FACTS = BackendFacts(backend="docker", version="20.10.24", api_version="1.41", platform="linux/amd64",
                     store="graphdriver", cgroup="1", memory=8 << 30, runtimes=("runc",),
                     boundary="container (runc, shared kernel)", enforced=("cpus", "memory", "pids", "seccomp", "swap"))
SIGNATURE = PythonSignature("ValueError", "ledger is off: wanted 42, found 43", ("check.py:main", "check.py:<module>"))
TRACEBACK = (b"Traceback (most recent call last):\n"
             b'  File "/workspace/check.py", line 22, in <module>\n    main()\n'
             b'  File "/workspace/check.py", line 17, in main\n    raise ValueError(message)\n'
             b"ValueError: ledger is off: wanted 42, found 43\n")
CONTRACT = Contract(1, "ledger is off", SIGNATURE)
PAYLOAD = {"check.py": b"raise SystemExit(1)\n", "data/ledger.txt": b"40\n3\n"}

FAILS = FakeRun(ExitStatus(Cause.EXITED, 1), stdout=b"reading the ledger\n", stderr=TRACEBACK, wall_seconds=0.25,
                cpu_seconds=0.07, peak_memory=12 << 20, changes=(Change("added", b"out.log", "file, 4 bytes"),),
                artifacts=(Artifact(b"out.log", b"log\n"),))
"""A run that shows the recorded failure."""

PASSES = FakeRun(ExitStatus(Cause.EXITED, 0), stdout=b"all is well\n", wall_seconds=0.2, cpu_seconds=0.05,
                 peak_memory=10 << 20)
TIMED_OUT = FakeRun(ExitStatus(Cause.TIMED_OUT, 124), stdout=b"waiting\n", wall_seconds=20.0)


def make_evidence(place: Path, script: Sequence[FakeRun] = (FAILS,), *, runs: int | None = None,
                  contract: Contract = CONTRACT, command: str = "python3 check.py",
                  payload: dict[str, bytes] | None = None) -> Evidence:
    """Replay a report of ``command`` over scripted runs; ``place`` (made here) gets payload, report and ``run``."""
    place.mkdir(parents=True, exist_ok=True)
    root = place / "ledger"
    for name, data in (PAYLOAD if payload is None else payload).items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    report = place / "report.json"
    report.write_bytes(_report(root, contract, command))
    settled = settle(ReplayRequest(report=str(report), payload=str(root), runs=runs or len(script)))
    done = replay(settled, out=place / "run", backend=FakeBackend(script, facts=FACTS, image=IMAGE))
    return open_evidence(done.directory)


def _report(root: Path, contract: Contract, command: str) -> bytes:
    policy = load_policy("default")
    sealed = seal(root, seal_limits(policy))
    seen = sealed.fingerprint
    return write_native(ReportDraft(
        created="2026-11-30T12:00:00Z", tool_version="0.1.0", workload=CommandWorkload(shell=command),
        contract=contract, environment=RecordedEnvironment((), environment_sha256(())),
        payload=RecordedTree(root.name, files=seen.files, bytes=seen.bytes, entries=seen.entries, exact=seen.exact,
                             content=seen.content, tree_exact=None, tree_content=None, modes=modes_of(sealed.manifest)),
        execution=RecordedExecution("docker", ImagePin(IMAGE.id, IMAGE.name, IMAGE.platform, "", ()), "none", 20.0,
                                    "default", policy.digest()),
        baseline=Baseline(3, 3, contract.exit_code or 1)))


def silent(run: FakeRun) -> FakeRun:
    """The same run without any output."""
    return replace(run, stdout=b"", stderr=b"")
