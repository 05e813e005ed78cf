"""What the evidence of a session says of its browser and its faults."""

from __future__ import annotations

from pathlib import Path

from played_sessions import Played, recorded

from runner.browser.faults import ApiFault
from runner.browser.outcome import BrowserFacts, Outcome


def test_nothing_is_said_of_a_browser_that_was_not_started(tmp_path: Path) -> None:
    result = recorded(tmp_path, played=Played(Outcome("not_launched", "this image has no firefox"))).result
    assert result.exit_code == 2
    assert result.session is not None
    assert result.session.browser is None
    assert not [warning for warning in result.warnings if "sandbox" in warning]


def test_a_browser_without_its_sandbox_is_a_warning(tmp_path: Path) -> None:
    naked = Outcome("done", browser=BrowserFacts("chromium", "156", sandbox="off"))
    result = recorded(tmp_path, played=Played(naked)).result
    assert result.session is not None
    assert result.session.browser is not None
    assert "the browser's own sandbox: off" in result.warnings


def test_faults_that_a_recording_put_in_are_counted(tmp_path: Path) -> None:
    fault = ApiFault("status_code", "GET", "http://127.0.0.1:8801/api/report", 1, status=502, body="e30=")
    busy = Outcome("done", browser=BrowserFacts("chromium"), api_faults=(fault, fault))
    session = recorded(tmp_path, played=Played(busy)).result.session
    assert session is not None
    assert (session.api_faults, session.state_faults) == (2, 0)
