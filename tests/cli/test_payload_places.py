"""Nothing is written into a payload: what lands there would make it another one than the one that was recorded."""

import pytest
from click.testing import CliRunner

from runner.cli.bundle import command as bundle
from runner.cli.record import command as record
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.errors import UsageError
from runner.payload.seal import DEFAULT_LIMITS, seal
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from tests.bundles import report_of
from tests.stored_runs import FACTS

FAILS = FakeRun(ExitStatus(Cause.EXITED, 7), stdout=b"LEDGER_MISMATCH\n")


@pytest.fixture
def payload(tmp_path, monkeypatch):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a").write_text("a")
    (tmp_path / "r.json").write_bytes(report_of(seal(folder, DEFAULT_LIMITS)))
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    return folder


def names(folder):
    return sorted(entry.name for entry in folder.rglob("*"))


def replayed(payload, out=None):
    settled = settle(ReplayRequest(report=str(payload.parent / "r.json"), payload=str(payload), backend="host"))
    return replay(settled, out=out, backend=FakeBackend([FAILS], facts=FACTS))


def test_the_evidence_is_not_put_into_the_payload(tmp_path, payload):
    (tmp_path / "link").symlink_to(payload)
    for out in (payload / "evidence", tmp_path / "link" / "evidence", payload):
        with pytest.raises(UsageError, match="lies in the payload") as caught:
            replayed(payload, out)
        assert "--out" in caught.value.hint
    assert names(payload) == ["a"]


def test_nor_is_the_store(payload, monkeypatch):
    monkeypatch.chdir(payload)
    monkeypatch.delenv("RUNNER_STORE")
    for out in (None, payload.parent / "evidence"):
        with pytest.raises(UsageError, match="lies in the payload"):
            replayed(payload, out)
    assert names(payload) == ["a"]


def test_beside_the_payload_is_fine(tmp_path, payload):
    assert replayed(payload, tmp_path / "p-evidence").result.verdict == "reproduced"


@pytest.mark.parametrize("name", ["r.json", "r.repro"])
def test_nor_is_a_report_or_a_bundle(tmp_path, payload, name):
    output = str(payload / name)
    for command, words in ((record, ["--payload", payload, "--command", "false", "-o", output]),
                           (bundle, ["pack", tmp_path / "r.json", "--payload", payload, "-o", output])):
        done = CliRunner().invoke(command, [*map(str, words)])
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
        assert "lies in the payload" in done.stderr
    assert names(payload) == ["a"]
