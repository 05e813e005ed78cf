"""Load scenarios from Python, on the sample of the guide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner import api
from runner.errors import InputError, UsageError

SAMPLE = Path(__file__).parents[2] / "docs" / "samples" / "coupon"


def shop(command: str | None = "python3 server.py", url: str | None = "http://127.0.0.1:8000") -> api.Application:
    return api.Application(payload=str(SAMPLE / "app"), command=command, url=url)


def test_a_run_a_comparison_and_the_list(tmp_path: Path) -> None:
    right = api.verify(SAMPLE / "scenario", shop(), out=tmp_path / "right")
    wrong = api.verify(SAMPLE / "scenario", shop("python3 server.py --careless"), out=tmp_path / "wrong")
    assert (right.result.verdict, wrong.result.verdict) == ("pass", "fail")
    found = api.compare_runs(right.directory, wrong.directory)
    assert (found.verdict, found.document["correctness"]["assertion_regressions"]) == ("fail", ["limit-held"])
    known = {row.run_id for row in api.list_runs()}
    assert {right.result.run_id, wrong.result.run_id} <= known


def test_a_series_has_a_run_for_each_seed(tmp_path: Path) -> None:
    series = api.repeat_verify(SAMPLE / "scenario", shop(), 2, seed=5, out=tmp_path / "two")
    assert (series.verdict, series.document["consistent"]) == ("pass", True)
    assert [run.result.seed for run in series.runs] == [5, 6]
    assert {run.result.load.series for run in series.runs if run.result.load} == {series.document["series_id"]}
    assert series.file.is_file()


def test_a_scenario_is_read_without_running_it() -> None:
    assert api.load_scenario(SAMPLE / "scenario").planned_journeys == 25


def test_what_is_wrong_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        api.load_scenario(tmp_path)
    with pytest.raises(UsageError, match="where does the application listen"):
        api.verify(SAMPLE / "scenario", shop(url=None))
    with pytest.raises(UsageError, match="not a run directory"):
        api.compare_runs(tmp_path / "none", tmp_path)


def test_another_k6_than_the_recorded_one_is_drift_and_no_refusal(tmp_path: Path) -> None:
    first = api.verify(SAMPLE / "scenario", shop(), out=tmp_path / "first")
    run = json.loads((first.directory / "run.json").read_text(encoding="utf-8"))
    assert first.result.drift == ()
    again = api.verify(SAMPLE / "scenario", shop(), out=tmp_path / "again", recorded=first.directory)
    assert (again.result.verdict, again.result.drift) == ("pass", ())
    (tmp_path / "run.json").write_text(json.dumps({**run, "engine": "k6 v2.2.0 (linux/amd64)", "seed": 4}))
    other = api.verify(SAMPLE / "scenario", shop(), out=tmp_path / "other", recorded=tmp_path / "run.json")
    assert other.result.verdict == "pass"
    assert [(row.what, row.recorded, row.used) for row in other.result.drift] == [
        ("k6", "k6 v2.2.0 (linux/amd64)", run["engine"]), ("seed", "4", "0")]
