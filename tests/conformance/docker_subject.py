"""The Docker backend on a real engine as the kit wants it: with a look at what is left, and at what can be seen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import docker

from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.conformance import Subject
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.backends.docker.labels import SESSION
from runner.sandbox.backends.docker.session import DockerSession
from runner.sandbox.policy import load_policy


class Watched(DockerBackend):
    """Remembers the marks of its sessions, to look for what is left of them."""

    def __init__(self, api: docker.APIClient) -> None:
        super().__init__(api)
        self.marks: list[str] = []

    @contextmanager
    def open(self, plan: Plan, sealed: SealedPayload) -> Iterator[DockerSession]:
        """As the backend itself."""
        with super().open(plan, sealed) as session:
            self.marks.append(session._blueprint.owner.session)
            yield session


def is_a_workloads_own(process: Path) -> bool:
    """Whether it is inside of a container and not its init: that one has the secret for a good reason."""
    numbers = [line.split()[1:] for line in (process / "status").read_text().splitlines() if line.startswith("NSpid:")]
    return any(len(of_each_namespace) > 1 and of_each_namespace[-1] != "1" for of_each_namespace in numbers)


def processes_that_show(secret: bytes) -> Iterator[str]:
    """Of the host's processes those that have it on their command line, or in an environment where it is not due."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        process = Path("/proc", number)
        try:
            shown = (process / "cmdline").read_bytes()
            if not is_a_workloads_own(process):
                shown += (process / "environ").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # gone meanwhile
        if secret in shown:
            yield f"process {number}"


def subject_on(engine: docker.APIClient) -> Subject:
    """The Docker backend on that engine, and how to look around it."""
    backend = Watched(engine)

    def leftovers() -> Sequence[str]:
        found: list[str] = []
        for mark in backend.marks:
            label = {"label": f"{SESSION}={mark}"}
            found += [entry["Names"][0] for entry in engine.containers(all=True, filters=label)]
            found += [entry["Name"] for entry in engine.volumes(filters=label).get("Volumes") or []]
        return found

    def exposures(secret: str) -> Sequence[str]:
        """Everything the engine tells of any container, and the processes of the host."""
        told = [entry["Id"] for mark in backend.marks
                for entry in engine.containers(all=True, filters={"label": f"{SESSION}={mark}"})
                if secret in json.dumps(engine.inspect_container(entry["Id"]))]
        return [*told, *processes_that_show(secret.encode())]

    return Subject(backend=lambda _: backend, policy=load_policy("default"), leftovers=leftovers,
                   exposures=exposures, image=backend.resolve_image(None))
