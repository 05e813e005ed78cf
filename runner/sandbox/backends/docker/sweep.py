"""Remove what an earlier controller left on the engine, by label alone.

A session whose steward runs has a living controller: the steward's stdin is the controller's leash. What is
younger than the grace may belong to a session that is just being opened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import APIError

from runner.sandbox.backends.docker.engine import engine_errors, remove_container, remove_volume
from runner.sandbox.backends.docker.labels import CREATED, EXPIRES, ROLE, SESSION

GRACE_SECONDS = 30.0
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Swept:
    """Names of what was removed."""

    containers: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()


def sweep(api: docker.APIClient, grace: float = GRACE_SECONDS) -> Swept:
    """Remove containers and volumes of sessions without a living controller, older than ``grace`` seconds.

    What is still in use, because its own controller is just removing it, is left for the next time.
    """
    with engine_errors("look for leftovers"):
        containers = api.containers(all=True, filters={"label": SESSION})
        volumes = api.volumes(filters={"label": SESSION}).get("Volumes") or []
    living = {entry["Labels"][SESSION] for entry in containers
              if entry["State"] == "running" and entry["Labels"].get(ROLE) == "steward"}
    now = time.time()
    gone = [entry for entry in containers if _abandoned(entry["Labels"], living, now, grace)]
    stale = [entry for entry in volumes if _abandoned(entry["Labels"], living, now, grace)]
    with engine_errors("remove leftovers"):
        gone = [entry for entry in gone if _removed(remove_container, api, entry["Id"])]
        stale = [entry for entry in stale if _removed(remove_volume, api, entry["Name"])]
    return Swept(tuple(entry["Names"][0].lstrip("/") for entry in gone), tuple(entry["Name"] for entry in stale))


def _removed(remove: Callable[[docker.APIClient, str], None], api: docker.APIClient, name: str) -> bool:
    try:
        remove(api, name)
    except APIError as error:
        if error.status_code != _CONFLICT:
            raise
        return False
    return True


def _abandoned(labels: Mapping[str, Any], living: set[str], now: float, grace: float) -> bool:
    if now > _moment(labels, EXPIRES) + grace:
        return True
    return labels[SESSION] not in living and now > _moment(labels, CREATED) + grace


def _moment(labels: Mapping[str, Any], label: str) -> float:
    text = str(labels.get(label, ""))
    return float(text) if text.isdigit() else float("inf")


def remove_session(api: docker.APIClient, session: str) -> None:
    """Remove everything that carries this session's label."""
    mark = {"label": f"{SESSION}={session}"}
    with engine_errors("clean up"):
        for entry in api.containers(all=True, filters=mark):
            remove_container(api, entry["Id"])
        for entry in api.volumes(filters=mark).get("Volumes") or []:
            remove_volume(api, entry["Name"])
