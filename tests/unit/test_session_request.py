"""What a person says of a browser session's application, over what was recorded."""

from __future__ import annotations

import pytest

from runner.browser.job import Job
from runner.controller.sessions.request import Application, SessionRequest, settle_session
from runner.errors import UsageError

RECORDED = Job("play", "http://127.0.0.1:8000/", reset="/api/fresh")


def reset_of(said: str | None) -> str | None:
    application = Application(payload="shop", command="python3 app.py", reset=said)
    return settle_session(SessionRequest(application), RECORDED).job.reset


def test_a_recorded_reset_holds_unless_another_is_said():
    assert reset_of(None) == "/api/fresh"
    assert reset_of("/api/other") == "/api/other"


def test_a_reset_is_a_path():
    with pytest.raises(UsageError, match="--reset api: expected a path"):
        reset_of("api")
