"""A recording whose incident cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest
from played_sessions import ITEMS, recorded

from runner.controller.sessions import record
from runner.errors import ReportError


def test_what_makes_an_incident_impossible_is_told_and_the_evidence_kept(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: bytes) -> None:
        raise ReportError("replay_trace: is odd")
    monkeypatch.setattr(record, "parse_incident", refuse)
    evidence = recorded(tmp_path, ITEMS)
    assert evidence.result.verdict == "no_verdict"
    assert evidence.result.error == "replay_trace: is odd"
