"""One container's life: create, attach, start, kill, wait, remove. No archive calls, no exec, no log file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import docker
import requests
from docker.errors import APIError, NotFound

from runner.errors import EngineUnavailable, LimitNotEnforced, SetupError, printable
from runner.sandbox.backends.docker.attach import Attachment
from runner.sandbox.backends.docker.dialect import DOCKER, Dialect
from runner.sandbox.backends.docker.engine import engine_errors, remove_container, remove_volume, retrying
from runner.sandbox.backends.docker.labels import SESSION
from runner.sandbox.deadline import Deadline
from runner.sandbox.spec import ContainerSpec

_CONFLICT = 409
_KILL_SECONDS = 25.0


@dataclass(frozen=True, slots=True)
class FinalState:
    """What the engine says of a container that ended."""

    exit_code: int
    oom_killed: bool


class Container:
    """A created container. ``open`` attaches before it starts, so the first byte is never missed."""

    def __init__(self, api: docker.APIClient, spec: ContainerSpec, accept: tuple[str, ...] = (),
                 dialect: Dialect = DOCKER) -> None:
        self._api = api
        self._spec = spec
        self._dialect = dialect
        self.attachment: Attachment | None = None
        with engine_errors(f"create the container {spec.name}"):
            for name, mount in dialect.scratch(spec):
                options = dialect.volume(mount.size, mount.inodes, mount.mode)
                api.create_volume(name, driver="local", driver_opts=options, labels=dict(spec.labels))
            self.id = self._create(accept)

    def _create(self, accept: tuple[str, ...]) -> str:
        try:
            create: Any = self._api.create_container_from_config  # the stubs leave it untyped
            answer = create(self._dialect.body(self._spec), self._spec.name)
        except APIError as error:
            said = str(error.explanation)
            if error.status_code == _CONFLICT or "already in use" in said:  # podman: 500
                return self._adopt()
            if "seccomp profile" in said:
                raise LimitNotEnforced(f"seccomp is not enforced: the engine did not take the profile: "
                                       f"{printable(said)[:200]}",
                                       hint="podman reads it from a file: use an engine of this host") from error
            raise
        warnings = [printable(text) for text in answer.get("Warnings") or ()]
        if warnings and "warnings" not in accept:
            remove_container(self._api, answer["Id"])
            raise LimitNotEnforced(f"the engine does not enforce a limit of the policy: {warnings[0]}",
                                   hint="use an engine that does, or name `warnings` in accept_unenforced")
        return str(answer["Id"])

    def _adopt(self) -> str:
        """A create that we never heard back from may have worked: take it, but only if it is ours."""
        found = self._api.inspect_container(self._spec.name)
        if found["Config"]["Labels"].get(SESSION) != dict(self._spec.labels)[SESSION]:
            raise SetupError(f"a container named {self._spec.name} exists and is not ours",
                             hint="remove or rename it")
        return str(found["Id"])

    def start(self) -> Attachment:
        """Attach, then start."""
        with engine_errors(f"start the container {self._spec.name}"):
            self.attachment = Attachment(self._api, self.id)
            self._api.start(self.id)
        return self.attachment

    def terminate(self, seconds: float) -> None:
        """TERM, and so long a wait for the end. Whatever comes of it, a kill must follow."""
        with suppress(APIError, requests.exceptions.RequestException):
            self._api.kill(self.id, "SIGTERM")
            self._api.wait(self.id, timeout=int(seconds))

    def kill(self) -> None:
        """KILL; a container that is over already is fine. An engine that sees no end within its own patience is
        asked again: a busy host may need longer.
        """
        with engine_errors(f"kill the container {self._spec.name}"):
            for attempt in retrying(_KILL_SECONDS):
                with attempt:
                    try:
                        self._api.kill(self.id, "SIGKILL")
                    except NotFound:
                        return
                    except APIError as error:
                        if error.status_code != _CONFLICT:
                            raise

    def wait(self, deadline: Deadline) -> FinalState:
        """Wait for the end and read the final state. Raises EngineUnavailable if it does not end in time."""
        with engine_errors(f"wait for the container {self._spec.name}"):
            try:
                self._api.wait(self.id, timeout=int(deadline.remaining()) + 1)
            except (requests.exceptions.ReadTimeout, requests.exceptions.ConnectionError) as error:
                if deadline.expired:
                    raise EngineUnavailable(f"the container {self._spec.name} did not end when killed",
                                            hint="the engine may be stuck; `runner gc` removes it later") from error
                raise
            for attempt in retrying(5.0):
                with attempt:
                    state = self._api.inspect_container(self.id)["State"]
        return FinalState(int(state["ExitCode"]), bool(state["OOMKilled"]))

    def slip_leash(self) -> None:
        """End its stdin: its own PID 1 ends everything in it."""
        if self.attachment is not None:
            self.attachment.slip_leash()

    def discard(self) -> None:
        """Close the streams (open ones can hang a removal), then remove."""
        if self.attachment is not None:
            self.attachment.close()
        with engine_errors(f"remove the container {self._spec.name}"):
            remove_container(self._api, self.id)
            for scratch in self._dialect.scratch(self._spec):
                remove_volume(self._api, scratch.name)
