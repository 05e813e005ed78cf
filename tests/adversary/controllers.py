"""Controllers as processes of their own: real ``runner`` commands that can be interrupted and killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from docker.errors import APIError
from harness import POLICY, RUNTIME, Command, Files, backend, engine, seal_limits, workload_of, write_files
from waiting import DEADLINE, eventually

from runner.case import RecordedEnvironment, RecordedExecution
from runner.oracles.contract import Contract
from runner.payload.seal import seal
from runner.sandbox.backends.docker.labels import ROLE, SESSION
from runner.sandbox.image import ImagePin
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.environment import environment_sha256
from runner.sources.native.write import write_native

RUNNER = (sys.executable, "-m", "runner")
SECONDS = 60.0


@dataclass(frozen=True)
class Recorded:
    """A report, its payload and a policy on disk, and where the evidence goes."""

    report: Path
    payload: Path
    policy: Path
    out: Path

    def replay(self, *options: str) -> list[str]:
        """The command line."""
        return [*RUNNER, *self.arguments(*options)]

    def arguments(self, *options: str) -> list[str]:
        """The command line without its beginning."""
        return ["replay", str(self.report), "--payload", str(self.payload), "--policy", str(self.policy),
                "--out", str(self.out), "--yes", *options]


def recorded(place: Path, files: Files, command: Command, *, exit_code: int = 0, match: str | None = None,
             env: Mapping[str, str] | None = None, artifacts: tuple[str, ...] = ()) -> Recorded:
    """Write down a failure that never happened: what matters here is only what a replay does."""
    place.mkdir(exist_ok=True)
    case = Recorded(place / "report.json", place / "payload", place / "policy.yaml", place / "out")
    write_files(case.payload, {"empty/": "", **files})
    case.policy.write_text(yaml.safe_dump(POLICY.document()))
    seen = seal(case.payload, seal_limits(POLICY)).fingerprint
    image, pairs = backend().resolve_image(None), (env or {}).items()
    case.report.write_bytes(write_native(ReportDraft(
        created="2026-01-02T03:04:05Z", tool_version="0.1.0",
        workload=replace(workload_of(command), artifacts=artifacts),
        contract=Contract(exit_code, match), environment=RecordedEnvironment(
            tuple(sorted(env or ())), environment_sha256(tuple(pairs))),
        payload=RecordedTree("payload", seen.files, seen.bytes, seen.entries, seen.exact, seen.content),
        execution=RecordedExecution("docker", ImagePin(image.id, image.name, image.platform), "none", 60.0,
                                    POLICY.name, POLICY.digest()),
        baseline=Baseline(1, 1, exit_code))))
    return case


def finish(command: Sequence[str], **options: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, env={**os.environ, **options})


@contextmanager
def started(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in the background; it is killed at the end, if it is still there."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def session_of(word: str) -> str:
    """The mark of the session whose workload has ``word`` on its command line and is running it by now."""
    marks: list[str] = []

    def runs() -> bool:
        found = engine().containers(filters={"label": f"{ROLE}=workload"})
        marks.extend(entry["Labels"][SESSION] for entry in found
                     if word in entry["Command"] and any(word in line for line in processes(entry["Id"])))
        return bool(marks)

    eventually(runs, f"no workload with {word} came to run")
    return marks[0]


def processes(container: str) -> list[str]:
    """Command lines of a running container's processes besides the init; none when it has just ended. A kernel of
    its own shows them inside only.
    """
    try:
        lines = ([" ".join(row[7:]) for row in engine().top(container)["Processes"]] if RUNTIME is None
                 else inside(container))
    except APIError:
        return []
    return [line for line in lines if not line.startswith("/.runner/init")]


def inside(container: str) -> list[str]:
    """The same, as a process in there sees them."""
    look = "for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file; echo; done"
    return subprocess.run(["docker", "exec", container, "sh", "-c", look], capture_output=True, text=True,
                          check=False).stdout.splitlines()


def is_alive(container: str) -> bool:
    """Whether any process of the host is still in the container's control group, whatever the engine says."""
    for table in Path("/proc").glob("[0-9]*/cgroup"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if container in table.read_text():
                return True
    return False


def swept(left: Callable[[], list[str]]) -> None:
    """Return once `gc` has left nothing of what ``left`` lists; after the deadline fail with what both said last."""
    end = time.monotonic() + DEADLINE
    while (done := finish([*RUNNER, "gc", "--grace", "3"])).returncode != 0 or left() != []:
        assert time.monotonic() < end, (left(), done)


def running(mark: str) -> list[str]:
    """Names of the containers of a session that run."""
    return [entry["Names"][0] for entry in engine().containers(filters={"label": f"{SESSION}={mark}"})]
