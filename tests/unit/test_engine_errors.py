"""What the SDK raises, as one line of ours; and how long an idempotent call is tried again."""

import ssl

import docker
import pytest
import requests
import urllib3

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


def wrapped(fault):
    """As three libraries hand it on: in the arguments, as the cause, and as the context."""
    inner = urllib3.exceptions.SSLError(fault)
    outer = requests.exceptions.SSLError("Max retries exceeded")
    outer.__cause__ = inner
    error = docker.errors.DockerException("Error while fetching server API version: …")
    error.__context__ = outer
    return error


def test_a_certificate_that_nobody_vouches_for_is_told_as_such():
    fault = ssl.SSLCertVerificationError(1, "unable to get local issuer certificate")
    with pytest.raises(EngineUnavailable, match=r"our ca\.pem vouches for: .*unable to get local") as caught, \
            engine_errors("do it"):
        raise wrapped(fault)
    assert "Max retries" not in caught.value.message


def test_a_client_that_the_engine_does_not_know_is_told_as_such():
    fault = ssl.SSLError(1, "alert bad certificate")
    with pytest.raises(EngineUnavailable, match=r"authority of our cert\.pem: .*alert bad"), engine_errors("do it"):
        raise wrapped(fault)


def test_an_answer_is_shown_with_its_explanation():
    error = docker.errors.DockerException("…")
    error.__cause__ = docker.errors.APIError("400", explanation="Client sent an HTTP request to an HTTPS server.")
    error.__cause__.__cause__ = OSError("below")
    with pytest.raises(EngineUnavailable, match="to an HTTPS server"), engine_errors("do it"):
        raise error


def test_a_fault_that_was_there_before_is_not_taken_for_the_cause():
    """As it happens while cleaning up after somebody else's fault."""
    error = requests.exceptions.ConnectionError("refused")
    error.__context__ = ValueError("of somebody else")
    with pytest.raises(EngineUnavailable, match=r": refused$"), engine_errors("do it"):
        raise error
