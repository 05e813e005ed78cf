"""Run one attack in the real sandbox, and look at what came of it.

Every attack goes the way of a replay: sealed payload, Docker backend, assembly line, observations. Whatever the
attack was, :func:`attack` itself checks that each run began with exactly what was sealed, that the payload is
untouched and that nothing of the session is left on the engine.
"""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import docker

from runner.controller.bounds import seal_limits
from runner.controller.observe import observe
from runner.evidence.observation import Observation
from runner.payload.seal import SealedPayload, check_unchanged, seal
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.labels import ROLE, SESSION
from runner.sandbox.backends.docker.session import DockerSession
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import Policy, load_policy, tighten
from runner.workloads.command import CommandWorkload

MIB = 1 << 20
RUNTIME = os.environ.get("SANDBOX_RUNNER_TEST_RUNTIME")
"""The engine's runtime that the attacks are to run under; unset: its default, with the kernel shared."""

TIMEOUT = 20.0 if RUNTIME is None else 60.0
"""Seconds for a run that is to end by itself."""

_ROOM: dict[str, Any] = ({"memory": "192MiB", "pids": 64} if RUNTIME is None
                         # A kernel of its own needs memory and threads for itself.
                         else {"memory": "384MiB", "pids": 512, "runtime": RUNTIME})

POLICY = tighten(load_policy("default"), {
    "name": "adversary", **_ROOM, "nofile": 256, "file_size": "24MiB", "shm": "1MiB",
    "work": {"size": "32MiB", "inodes": 4096}, "tmp": {"size": "16MiB", "inodes": 1024},
    "output": {"stdout": "4MiB", "stderr": "4MiB", "keep": "1MiB", "artifacts": "1MiB"},
    "payload": {"files": 2000, "bytes": "16MiB"}, "timeout": 60}, "adversary")
"""Small, so that hitting a limit is quick."""

SESSIONS: list[str] = []
"""The mark of every session that an attack opened, for a last look at the end."""

Files = Mapping[str, str | bytes]
Command = str | Sequence[str]


@functools.cache
def engine() -> docker.APIClient:
    """The one connection of these tests; closed by the session's fixture."""
    return connect()


@functools.cache
def backend() -> DockerBackend:
    """The backend under attack."""
    return DockerBackend(engine())


class Opened(NamedTuple):
    """A session that is ready to be attacked."""

    session: DockerSession
    plan: Plan
    sealed: SealedPayload
    mark: str


@contextmanager
def opened(payload: Files, command: Command, *, runs: int = 1, policy: Policy = POLICY, timeout: float = TIMEOUT,
           env: Mapping[str, str] | None = None, image: ResolvedImage | None = None,
           artifacts: tuple[str, ...] = (), jobs: int = 1, ahead: int = 0,
           through: DockerBackend | None = None) -> Iterator[Opened]:
    """Seal ``payload`` and open a session that will run ``command`` (shell text or an argv) on fresh copies."""
    workload = workload_of(command)
    plan = Plan(argv=workload.command_line, cwd=workload.cwd, env=tuple((env or {}).items()), policy=policy,
                timeout=timeout, runs=runs, jobs=jobs, ahead=ahead, shell_speaks=workload.shell_speaks,
                image=image or backend().resolve_image(None), artifacts=artifacts)
    with tempfile.TemporaryDirectory(prefix="adversary-") as directory:
        write_files(Path(directory), payload)
        sealed = seal(directory, seal_limits(policy))
        with (through or backend()).open(plan, sealed) as session:
            mark = session._blueprint.owner.session
            SESSIONS.append(mark)
            yield Opened(session, plan, sealed, mark)
        check_unchanged(sealed)
    assert of_session(mark) == []


def attack(payload: Files, command: Command, **options: Any) -> list[Observation]:
    """What was observed of each run; the options are those of :func:`opened`."""
    with opened(payload, command, **options) as (session, plan, sealed, _):
        seen = list(observe(session, plan, lambda _: None))
    assert [one.index for one in seen] == list(range(1, plan.runs + 1))
    assert {one.before for one in seen} == {sealed.fingerprint}
    return seen


def workload_of(command: Command) -> CommandWorkload:
    """Shell text, or an argv."""
    return CommandWorkload(shell=command) if isinstance(command, str) else CommandWorkload(argv=tuple(command))


def attack_with(program: str, **options: Any) -> Observation:
    """One run of a Python program; it is the main process."""
    return attacks_with(program, **options)[0]


def attacks_with(program: str, **options: Any) -> list[Observation]:
    """Several runs of a Python program; it is the main process."""
    files = {"attack.py": dedent(program), **options.pop("payload", {})}
    return attack(files, ("python3", "attack.py"), **options)


def said(seen: Observation) -> Any:
    """The JSON that the program printed; a run that went wrong is shown instead."""
    assert seen.status.cause == "exited", (seen.status, seen.stderr.kept[-2000:])
    assert seen.status.returncode == 0, (seen.status, seen.stderr.kept[-2000:])
    return json.loads(seen.stdout.kept)


def ending(seen: Observation) -> tuple[str, int | None, int | None]:
    """Cause, return code and signal."""
    return str(seen.status.cause), seen.status.returncode, seen.status.signal


def changes(seen: Observation) -> dict[bytes, tuple[str, str]]:
    """Kind and detail of each change, by path."""
    return {change.path: (change.kind, change.detail) for change in seen.changes}


def write_files(root: Path, files: Files) -> None:
    """Make a payload directory. Scripts and binaries can be executed; a name that ends in ``/`` is a directory."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
            continue
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        path.chmod(0o755 if data.startswith((b"#!", b"\x7fELF")) else 0o644)
    os.chmod(root, 0o755)


def of_session(mark: str) -> list[str]:
    """Names of containers and volumes of one session, by its label or by how we call them: an engine that makes
    a missing volume by itself gives it no label.
    """
    named = _objects({"name": f"runner-{mark}-"})
    return sorted({name for name, _ in _objects({"label": f"{SESSION}={mark}"}) + named})


def abandoned() -> list[str]:
    """Names of containers and volumes of ours that no running steward belongs to."""
    running = engine().containers(filters={"label": f"{ROLE}=steward"})
    living = {entry["Labels"][SESSION] for entry in running}
    return [name for name, mark in _objects({"label": SESSION}) if mark not in living]


def _objects(filters: dict[str, str]) -> list[tuple[str, str]]:
    containers = engine().containers(all=True, filters=filters)
    volumes = engine().volumes(filters=filters).get("Volumes") or []
    return ([(entry["Names"][0].lstrip("/"), entry["Labels"].get(SESSION, "")) for entry in containers]
            + [(entry["Name"], (entry["Labels"] or {}).get(SESSION, "")) for entry in volumes])
