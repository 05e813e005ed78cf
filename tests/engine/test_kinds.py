"""Every kind of failure gets its verdict, its cause and its exit code; what cannot be judged again is not recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fresh_reports import command_image, write_fresh
from kinds import KINDS, Kind

from runner.controller.record import RecordRequest, record
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.controller.write import write_report
from runner.errors import RunnerError
from runner.evidence.result import Result
from runner.sandbox.exit import Cause

pytestmark = pytest.mark.engine

EXIT_CODES = {"reproduced": 0, "not_reproduced": 1, "no_verdict": 3}
RECORDED = [kind for kind in KINDS if kind.record is not None]

image = pytest.fixture(scope="module")(command_image)


def replay_once(report: Path, payload: Path, out: Path, runs: int = 1) -> Result:
    settled = settle(ReplayRequest(report=str(report), payload=str(payload), runs=runs))
    return replay(settled, out=out).result


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_gets_its_verdict(kind: Kind, tmp_path: Path, image: Any) -> None:
    payload = kind.write(tmp_path / "payload")
    report = write_fresh(tmp_path / "report.json", payload, image, kind.workload, kind.contract,
                         timeout=kind.timeout, limits=kind.limits)
    result = replay_once(report, payload, tmp_path / "out")
    sample = result.samples[0]
    seen = (result.verdict, sample.cause, sample.returncode, sample.signal, sample.signal_hint, sample.child_oom,
            sample.mismatch_reason)
    assert seen == (kind.verdict, kind.cause, kind.returncode, kind.signal, kind.signal_hint, kind.child_oom,
                    kind.mismatch), (sample, result.reasons)
    not_started = kind.cause == Cause.NOT_STARTED
    assert result.exit_code == (2 if not_started else EXIT_CODES[kind.verdict])


@pytest.mark.parametrize("kind", RECORDED, ids=lambda kind: kind.name)
def test_a_kind_is_recorded_or_refused(kind: Kind, tmp_path: Path) -> None:
    """A person tells the command only; what is learned must hold in a replay."""
    payload = kind.write(tmp_path / "payload")
    request = RecordRequest(payload=str(payload), workload=kind.workload, runs=2, timeout=kind.timeout,
                            limits=kind.limits, exit_code=0 if kind.contract.exit_code == 0 else None,
                            match=kind.contract.match if kind.contract.exit_code == 0 else None)
    if kind.record:
        with pytest.raises(RunnerError) as refused:
            record(request)
        assert refused.value.exit_code == kind.record, refused.value
        return
    recording = record(request)
    write_report(recording, "native", tmp_path / "report.json")
    result = replay_once(tmp_path / "report.json", payload, tmp_path / "out")
    assert (result.verdict, result.fingerprint_mode) == ("reproduced", "exact"), (recording.contract, result.reasons)
