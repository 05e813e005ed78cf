"""A replay of a bundle over a scripted backend: what becomes evidence, and what a change in the middle does."""

import os
from hashlib import sha256

import pytest
from trees import sample

from runner.controller.line import Progress
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.errors import PayloadChanged
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from tests.bundles import packed
from tests.stored_runs import FACTS

FAILS = FakeRun(ExitStatus(Cause.EXITED, 7), stdout=b"LEDGER_MISMATCH\n")


@pytest.fixture
def bug(tmp_path):
    packed(sample(tmp_path / "payload"), tmp_path / "bug.repro")
    return tmp_path / "bug.repro"


def run(bug, out, progress=lambda _: None):
    settled = settle(ReplayRequest(report=str(bug), runs=2, backend="host"))
    return replay(settled, out=out, backend=FakeBackend([FAILS, FAILS], facts=FACTS), progress=Progress(progress))


def test_the_evidence_names_the_bundle_and_both_digests(tmp_path, bug):
    done = run(bug, tmp_path / "out")
    result = done.result
    assert (done.fault, result.verdict, result.passes, result.payload_unchanged) == (None, "reproduced", 2, True)
    assert (result.report, result.payload) == (str(bug), str(bug))
    assert result.bundle_sha256 == sha256(bug.read_bytes()).hexdigest()
    assert result.report_sha256 != result.bundle_sha256
    assert (result.fingerprint_mode, result.payload_fingerprint.entries) == ("exact", 8)


def test_a_bundle_that_changes_during_the_runs_ends_the_replay(tmp_path, bug):
    def meddle(_):
        bug.write_bytes(bug.read_bytes()[:-1] + b"x")

    done = run(bug, tmp_path / "out", meddle)
    assert isinstance(done.fault, PayloadChanged)
    assert (done.result.verdict, done.result.exit_code, done.result.payload_unchanged) == ("no_verdict", 2, False)


def test_a_bundle_that_changes_before_the_runs_is_refused(tmp_path, bug):
    settled = settle(ReplayRequest(report=str(bug), backend="host"))
    sample(tmp_path / "other")
    (tmp_path / "other" / "a.txt").write_bytes(b"another payload, another report\n")
    packed(tmp_path / "other", bug)
    with pytest.raises(PayloadChanged, match="since its report was read"):
        replay(settled, out=tmp_path / "out", backend=FakeBackend([FAILS], facts=FACTS))
    assert not os.path.lexists(tmp_path / "out")
