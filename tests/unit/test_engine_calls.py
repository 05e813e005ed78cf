"""Engine calls as they are told: no ids' noise, no query, nothing unless somebody listens."""

import datetime as dt
import logging

import pytest
import requests

from runner.sandbox.backends.docker.calls import LOGGER, call_path, tell_calls

ID = "0123456789ab" * 5 + "cdef"


@pytest.mark.parametrize(("url", "path"), [
    (f"http+docker://localhost/v1.41/containers/{ID}/start", "/containers/<id>/start"),
    ("http+docker://localhost/v1.41/containers/create?name=runner-0123456789ab-run-0001", "/containers/create"),
    ("http+docker://localhost/v1.41/volumes/runner-0123456789ab-work-0001", "/volumes/runner-<id>-work-0001"),
    (f"https://engine:2376/v1.54/images/sha256:{ID}/json?x=SECRET", "/images/<id>/json"),
    ("http://h/v1.41/images/python:3.12/json", "/images/python:3.12/json"),
    ("http://h/info", "/info"), ("http://h/v1.41/images/a\x1b]0;x/json", "/images/a\\x1b]0;x/json")])
def test_paths(url, path):
    assert call_path(url) == path


class Answers(requests.adapters.BaseAdapter):
    """An engine that answers everything."""

    def send(self, request, **_):
        response = requests.Response()
        response.status_code, response.request, response.url = 201, request, request.url
        response._content = b"{}"
        response.elapsed = dt.timedelta(milliseconds=12)
        return response

    def close(self):
        pass


@pytest.fixture
def client():
    with requests.Session() as session:
        session.mount("http://", Answers())
        yield tell_calls(session)


def test_a_call_is_told_without_its_query_and_body(client, caplog):
    caplog.set_level(logging.DEBUG, logger=LOGGER.name)
    client.post("http://engine/v1.41/containers/create?name=SECRET", json={"Env": ["TOKEN=SECRET"]},
                headers={"X-Registry-Auth": "SECRET"})
    message, = (record.getMessage() for record in caplog.records if record.name == "runner.engine")
    assert message.startswith("POST   201 ")
    assert message.endswith(" ms  /containers/create")
    assert "SECRET" not in caplog.text


def test_nothing_is_told_unless_asked(client, caplog):
    client.get("http://engine/v1.41/info")
    assert caplog.records == []
