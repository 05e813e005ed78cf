"""What the SDK raises, as one line of ours; and how long an idempotent call is tried again."""

import docker
import pytest
import requests

from runner.errors import EngineUnavailable, SetupError
from runner.sandbox.backends.docker.engine import engine_errors, remove_volume


@pytest.mark.parametrize(("raised", "becomes"), [
    (docker.errors.APIError("no such thing\n\x1b[31m"), SetupError),
    (docker.errors.DockerException("not there"), EngineUnavailable),
    (requests.exceptions.ConnectionError("refused"), EngineUnavailable),
    (requests.exceptions.ReadTimeout("late"), EngineUnavailable),
    (ConnectionResetError("reset"), EngineUnavailable),
    (OSError("broken"), EngineUnavailable),
])
def test_every_fault_is_one_printable_line(raised, becomes):
    with pytest.raises(becomes) as caught, engine_errors("do it"):
        raise raised
    assert "\n" not in caught.value.message
    assert "\x1b" not in caught.value.message
    assert caught.value.hint


class Flaky:
    """An engine whose first answers are errors."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0

    def remove_volume(self, _name, force):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)


def test_a_passing_fault_is_tried_again():
    engine = Flaky(docker.errors.APIError("busy"), requests.exceptions.ConnectionError("reset"))
    remove_volume(engine, "v")
    assert engine.calls == 3


def test_what_is_gone_already_is_fine():
    engine = Flaky(docker.errors.NotFound("no such volume"))
    remove_volume(engine, "v")
    assert engine.calls == 1


def test_the_last_fault_is_raised_as_it_is():
    engine = Flaky(*[docker.errors.APIError("busy")] * 100)
    with pytest.raises(docker.errors.APIError):
        remove_volume(engine, "v", seconds=0.0)
    assert engine.calls == 1
