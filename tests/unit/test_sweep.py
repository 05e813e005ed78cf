"""A sweep meets what another controller is just removing: it leaves that, and goes on."""

from types import SimpleNamespace

import pytest
import requests
from docker.errors import APIError

from runner.errors import SetupError
from runner.sandbox.backends.docker import sweep as sweeping
from runner.sandbox.backends.docker.labels import CREATED, SESSION

OLD = {SESSION: "s", CREATED: "1"}
ENGINE = SimpleNamespace(
    containers=lambda **_: [{"Id": name, "Names": [f"/{name}"], "State": "exited", "Labels": OLD} for name in "ab"],
    volumes=lambda **_: {"Volumes": [{"Name": name, "Labels": OLD} for name in "cd"]})


def refusing(name, status):
    response = requests.Response()
    response.status_code = status

    def remove(_api, removed):
        if removed == name:
            raise APIError("volume is in use", response)

    return remove


@pytest.mark.parametrize(("name", "containers", "volumes"), [
    ("a", ("b",), ("c", "d")), ("c", ("a", "b"), ("d",)), ("none", ("a", "b"), ("c", "d"))])
def test_what_is_in_use_is_left_for_the_next_time(monkeypatch, name, containers, volumes):
    for action in ("remove_container", "remove_volume"):
        monkeypatch.setattr(sweeping, action, refusing(name, 409))
    assert sweeping.sweep(ENGINE) == sweeping.Swept(containers, volumes)


def test_what_fails_otherwise_is_told(monkeypatch):
    monkeypatch.setattr(sweeping, "remove_container", refusing("none", 500))
    monkeypatch.setattr(sweeping, "remove_volume", refusing("d", 500))
    with pytest.raises(SetupError, match="remove leftovers"):
        sweeping.sweep(ENGINE)
