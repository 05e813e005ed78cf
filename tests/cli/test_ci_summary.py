"""The summary of ``--ci``: whole or cut, and never a reason to fail."""

import pytest
from played_sessions import stored
from stored_runs import FAILS, make_evidence

from runner.cli.ci import PAGE_BYTES, append_to_page, write_summary
from runner.evidence.check import open_evidence


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("ci"), (FAILS,))


def test_the_run_directory_is_still_whole(evidence, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_summary(evidence.directory)
    assert (evidence.directory / "summary.md").read_text().startswith("# REPRODUCED")
    assert open_evidence(evidence.directory).result == evidence.result


@pytest.mark.parametrize("page", ["/nowhere/page", "/"])
def test_a_page_that_cannot_be_written_is_a_warning(evidence, monkeypatch, capsys, page):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", page)
    write_summary(evidence.directory)
    assert "WARNING: the summary was not written: GITHUB_STEP_SUMMARY" in capsys.readouterr().err


@pytest.mark.parametrize("before", [0, 5000, PAGE_BYTES - 2000])
def test_a_page_is_cut_at_a_line_before_it_is_too_large(tmp_path, before):
    page = tmp_path / "page"
    page.write_bytes(b"x" * before)
    append_to_page(page, b"line of text\n" * 200_000)
    written = page.read_bytes()
    assert PAGE_BYTES - 100 < len(written) <= PAGE_BYTES
    assert written.endswith(b"whole summary is in the run directory._\n")
    *lines, _, _, _ = written[before:].split(b"\n")
    assert set(lines) == {b"line of text"}


def test_a_full_page_is_left_alone(tmp_path):
    page = tmp_path / "page"
    page.write_bytes(b"x" * (PAGE_BYTES - 10))
    append_to_page(page, b"line of text\n" * 10)
    assert page.stat().st_size == PAGE_BYTES - 10


@pytest.mark.parametrize(("name", "headline"), [("partly", "# REPRODUCED: partly, 1 of 2 recorded failures"),
                                                ("recorded", "# RECORDED: 2 failures found")])
def test_a_session_is_summed_up_failure_by_failure(tmp_path, monkeypatch, name, headline):
    page = tmp_path / "page"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    session = stored(tmp_path, name)
    write_summary(session.directory)
    text = page.read_text()
    assert text.startswith(headline)
    assert all(failure.id in text for failure in session.result.session.failures)
    assert open_evidence(session.directory).result == session.result
