"""What a person says of a browser session's application, over what was recorded."""

from __future__ import annotations

import pytest

from runner.browser.job import Job
from runner.controller.sessions.chaos import ChaosRequest, chaos_job
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


@pytest.mark.parametrize(("url", "line"), [
    ("http://example.com/", "--target-url http://example.com/: the application and the browser share loopback"),
    ("http://u:p@127.0.0.1:8000/", "--target-url: has a user name or a password"),
    ("http://127.0.0.1:8000/a b", "--target-url http://127.0.0.1:8000/a b: not a URL"),
    ("http://[::1/", r"--target-url http://\[::1/: not a URL"),
    ("ftp://127.0.0.1/", "--target-url ftp://127.0.0.1/: expected http or https"),
])
def test_a_url_that_cannot_be_opened_is_refused_before_anything_starts(url: str, line: str) -> None:
    application = Application(payload="shop", command="python3 app.py", url=url)
    with pytest.raises(UsageError, match=f"^{line}"):
        settle_session(SessionRequest(application), Job("chaos", url))


@pytest.mark.parametrize("url", ["http://localhost:8000/", "http://[::1]:8000/", "http://127.0.0.2/", "http://0.0.0.0:80"])
def test_every_name_of_loopback_will_do(url: str) -> None:
    application = Application(payload="shop", command="python3 app.py", url=url)
    assert settle_session(SessionRequest(application), Job("chaos", url)).job.url == url


def test_an_application_elsewhere_may_have_any_host() -> None:
    url = "http://example.com/"
    assert settle_session(SessionRequest(Application(url=url), network="bridge"), Job("chaos", url)).network == "bridge"


def test_a_command_says_something() -> None:
    with pytest.raises(UsageError, match="--target-command: is empty"):
        settle_session(SessionRequest(Application(payload="shop", command=" ")), RECORDED)


@pytest.mark.parametrize("said", [{"steps": 3}, {"duration": 2.0}])
def test_a_race_has_no_length(said: dict[str, float]) -> None:
    application = Application(payload="shop", command="python3 app.py", url="http://127.0.0.1:8000/")
    with pytest.raises(UsageError, match="--steps and --duration: a race is one click of each lane"):
        chaos_job(ChaosRequest(concurrency=2, **said), application)
