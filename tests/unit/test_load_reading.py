"""A driver's outcome is a claim: what is no outcome becomes none, and never an error of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.controller.loads.reading import left_by, parse_outcome
from runner.errors import NoVerdict
from runner.evidence.observation import Artifact, Observation, Stream
from runner.load.outcome import EngineRun, LoadOutcome, write_outcome
from runner.sandbox.exit import Cause, ExitStatus

WHOLE = LoadOutcome("done", "", "finished", EngineRun("k6 v1.1.0", 0, None, "a", "b", 1.5), {"kind": "command"},
                    ("setup ended with 1",), 2, 2, True, ({"assertion": "a", "status": "pass"},), 3,
                    (("console.log", 5),), 2.5, ("console.log",))


def observed(*artifacts: Artifact, cause: Cause = Cause.EXITED, said: bytes = b"") -> Observation:
    return Observation(1, ExitStatus(cause, 0), stdout=Stream(len(said), head=said), artifacts=artifacts)


def test_what_was_written_is_read() -> None:
    assert parse_outcome(write_outcome(WHOLE)) == WHOLE


@pytest.mark.parametrize(("field", "value"), [
    ("state", "won"), ("lifecycle", None), ("fixture_requests", -1), ("fixture_requests", True), ("detail", "x" * 2001),
    ("observations", [{"assertion": "a", "status": "maybe"}]), ("observations", [7]), ("fixture", [1]),
    ("engine", {"version": "k6"}), ("engine", 3), ("dropped", [["console.log"]]), ("dropped", [["a", "b"]]),
    ("elapsed_seconds", -0.1), ("cleaned", "yes"), ("files", "console.log"), ("observer_requests", 1 << 60)])
def test_one_wrong_field_is_no_outcome(field: str, value: Any) -> None:
    document = {**json.loads(write_outcome(WHOLE)), field: value}
    with pytest.raises(NoVerdict, match="cannot be believed"):
        parse_outcome(json.dumps(document).encode())


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b"\xff", b'{"state":"done"}', b"[" * 200, b"NaN"])
def test_what_is_no_document_is_no_outcome(raw: bytes) -> None:
    with pytest.raises(NoVerdict):
        parse_outcome(raw)


def test_files_come_by_their_names() -> None:
    left = left_by(observed(Artifact(b"out/outcome.json", write_outcome(WHOLE)), Artifact(b"out/console.log", b"hello"),
                            said=b"launched\nready\n"))
    assert left.outcome == WHOLE
    assert left.files == {"console.log": b"hello"}
    assert left.ran


def test_nothing_answered_in_time() -> None:
    left = left_by(observed(cause=Cause.TIMED_OUT, said=b"launched\n"))
    assert (left.outcome.state, left.outcome.detail) == ("not_ready", "nothing answered in time")


def test_a_driver_that_was_killed_left_nothing() -> None:
    left = left_by(observed(cause=Cause.OOM_KILLED, said=b"launched\nready\n"))
    assert (left.outcome.state, left.outcome.detail) == ("crashed", "the load ran out of a resource: oom_killed")
