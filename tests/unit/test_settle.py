"""What is decided before anything starts."""

import json
from pathlib import Path

import pytest

from runner.controller.settle import ReplayRequest, settle, wanted_image
from runner.errors import ReportError, UsageError
from runner.sources.load import load_case

SAMPLES = Path(__file__).parents[1] / "data" / "repomin"


def sample(name):
    return next((SAMPLES / name).glob("*.repomin/report.json"))


def edited(tmp_path, name, **execution):
    document = json.loads(sample(name).read_text())
    document["execution"] |= execution
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    return path


def ask(path, **more):
    return settle(ReplayRequest(report=str(path), payload="x", **more))


def test_a_host_report_never_gets_the_host_by_itself():
    assert ask(sample("a-exit-and-match")).backend == "docker"
    assert ask(sample("a-exit-and-match"), backend="recorded").backend == "host"


@pytest.mark.parametrize(("asked", "policy", "used", "source", "clamped"), [
    (20.0, None, 20.0, "report", False), (100_000.0, None, 300.0, "report", True), (100.0, 7.0, 7.0, "override", False),
    (100.0, 5000.0, 5000.0, "override", False)])
def test_whose_timeout_counts(tmp_path, asked, policy, used, source, clamped):
    settled = ask(edited(tmp_path, "a-exit-and-match", timeout_seconds=asked), timeout=policy)
    assert (settled.timeout, settled.timeout_source, "timeout" in settled.clamped) == (used, source, clamped)


def test_a_report_cannot_ask_for_more_than_the_policy_has(tmp_path):
    limits = {"memory_bytes": 1 << 50, "pids": 1 << 30, "cpus": 1e6, "tmpfs_bytes": 1 << 50, "workspace_bytes": 1 << 50}
    settled = ask(edited(tmp_path, "a-exit-and-match", limits=limits))
    assert settled.policy.memory == 1 << 30
    assert {clamp.name for clamp in settled.clamps} == {"memory", "pids", "cpus", "tmp", "work"}


def test_a_report_can_ask_for_less(tmp_path):
    settled = ask(edited(tmp_path, "a-exit-and-match", limits={"memory_bytes": 64 << 20, "pids": 9}))
    assert (settled.policy.memory, settled.policy.pids, settled.clamps) == (64 << 20, 9, ())


def test_docker_options_need_docker():
    for options in ({"docker_image": "x"}, {"docker_network": "none"}):
        with pytest.raises(UsageError, match="docker backend"):
            ask(sample("a-exit-and-match"), backend="host", **options)


def test_a_docker_report_without_an_image_id_needs_a_persons_choice(tmp_path):
    path = edited(tmp_path, "d-docker", image_id="busybox", environment_names=[], environment_sha256=None)
    with pytest.raises(ReportError, match="image_id"):
        wanted_image(ask(path))
    assert wanted_image(ask(path, docker_image="busybox:1")) == "busybox:1"


def test_a_bad_working_copy_name_is_refused_on_the_host_only(tmp_path):
    path = edited(tmp_path, "a-exit-and-match", working_directory_basename="../x")
    assert ask(path).backend == "docker"
    with pytest.raises(ReportError, match="working_directory_basename"):
        ask(path, backend="host")


@pytest.mark.parametrize("options", [{"runs": 0}, {"runs": 10**9}, {"jobs": 0}, {"jobs": 1000}, {"timeout": 0.0},
                                     {"timeout": float("nan")}, {"timeout": -1.0}, {"timeout": float("inf")}])
def test_numbers_out_of_range_are_usage_errors(options):
    with pytest.raises(UsageError):
        ask(sample("a-exit-and-match"), **options)


@pytest.mark.parametrize("backend", ["docker", "host"])
def test_a_docker_client_recorded_signals_as_exit_codes(tmp_path, backend):
    document = json.loads(sample("a-exit-and-match").read_text())
    document["failure_spec"] |= {"process_failure": True, "exit_code": None}
    document["execution"]["backend"] = backend
    document["process_failure_signature"] = {"kind": "exit_code", "code": 139}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    assert load_case(str(path)).contract.signature.signal_as_exit is (backend == "docker")


@pytest.mark.parametrize(("more", "word"), [({"inherit_env": True}, "--inherit-env needs the host backend"),
                                            ({"docker_image": ""}, "the name is empty")])
def test_an_option_that_would_do_nothing_is_refused(more, word):
    with pytest.raises(UsageError, match=word):
        ask(sample("a-exit-and-match"), **more)
