"""Writing the page after a replay: it never changes the verdict, and what cannot be written is said."""

import pytest
from stored_runs import make_evidence

from runner.cli.page import page_writer
from runner.reports.html import render_html


@pytest.fixture
def evidence(tmp_path):
    return make_evidence(tmp_path)


def test_the_page_of_the_stored_evidence_is_written(evidence, capsys):
    with page_writer() as write:
        write(evidence.directory)
    assert (evidence.directory / "report.html").read_text(encoding="utf-8") == render_html(evidence)
    assert capsys.readouterr().err == ""


def test_altered_evidence_gets_no_page(evidence, capsys):
    (evidence.directory / "stderr-1.bin").write_bytes(b"something else")
    with page_writer() as write:
        write(evidence.directory)
    assert not (evidence.directory / "report.html").exists()
    said = capsys.readouterr().err
    assert said.startswith("runner: WARNING: report.html was not written: ")
    assert "stderr-1.bin is not what was kept" in said


def test_a_page_that_cannot_be_put_there_is_a_warning(evidence, capsys):
    (evidence.directory / "report.html").mkdir()
    with page_writer() as write:
        write(evidence.directory)
    assert "not a regular file" in capsys.readouterr().err


def test_an_error_of_the_replay_passes_through():
    with pytest.raises(ValueError, match="the engine"), page_writer():
        raise ValueError("the engine went away")


def test_the_renderer_is_loaded_once_however_often_it_is_asked_for(evidence, monkeypatch):
    from runner.cli import page

    loads = []
    real = page._load
    monkeypatch.setattr(page, "_load", lambda: loads.append(1) or real())
    with page_writer() as write:
        assert loads == []
        write.load()
        write.load()
        write(evidence.directory)
    assert loads == [1]
