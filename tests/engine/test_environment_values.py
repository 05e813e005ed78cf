"""The values of ``--env`` reach the command and nothing else: no output, evidence, or container configuration."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.errors import APIError
from replays import replay_json
from repomin_samples import Sample, copy_sample

from runner.sources.environment import environment_sha256

pytestmark = pytest.mark.engine

SECRET = "9081726354918273"
"""A number, because the sample compares it with one; long enough to be nowhere by chance."""

OPTIONS = ("--env", "REPRO_MODE=strict", "--env", f"REPRO_LEVEL={SECRET}")
_PATIENCE_SECONDS = 60.0


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """ReproMin's Docker sample with a value worth hiding; as if made on a host, so that our image will do."""
    made = copy_sample("d", tmp_path)
    digest = environment_sha256([("REPRO_MODE", "strict"), ("REPRO_LEVEL", SECRET)])
    made.edit(lambda report: report["execution"].update(environment_sha256=digest, backend="host", image_id=None))
    return made


@pytest.fixture
def api() -> Iterator[docker.APIClient]:
    client = docker.APIClient()
    yield client
    client.close()


@pytest.mark.parametrize("backend", ["docker", "host"])
def test_values_are_in_neither_answer_nor_evidence(backend: str, sample: Sample, tmp_path: Path) -> None:
    answer = replay_json(sample.report, sample.payload, *OPTIONS, "--backend", backend, "--out", "seen", cwd=tmp_path)
    assert answer.code == 0, answer
    assert SECRET not in answer.out + answer.err
    files = [path for path in (tmp_path / "seen").rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_values_are_not_in_a_refusal(sample: Sample, tmp_path: Path) -> None:
    for options in (("--env", f"REPRO_LEVEL={SECRET}"), ("--env", SECRET), (*OPTIONS, "--env", f"REPRO_LEVEL={SECRET}"),
                    ("--env", f"REPRO-LEVEL={SECRET}"), (*OPTIONS, "--env", f"MORE={SECRET}")):
        answer = replay_json(sample.report, sample.payload, *options, cwd=tmp_path)
        assert answer.code == 2, answer
        assert SECRET not in answer.out + answer.err


def test_values_are_not_in_the_containers_configuration(sample: Sample, tmp_path: Path,
                                                        api: docker.APIClient) -> None:
    """Looked at while the command runs: that it has the value shows in the name of the program it starts."""
    sample.edit(lambda report: report.update(command='exec sh -c "sleep 300; : ${#REPRO_LEVEL} digits"'))
    replaying = subprocess.Popen(
        [sys.executable, "-m", "runner", "replay", str(sample.report), "--payload", str(sample.payload), "--yes",
         *OPTIONS], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        inspected, programs = _while_running(api, f"sleep 300; : {len(SECRET)} digits", replaying)
        assert SECRET not in inspected
        assert SECRET not in programs
    finally:
        replaying.send_signal(signal.SIGINT)
        out, err = replaying.communicate(timeout=_PATIENCE_SECONDS)
    assert replaying.returncode == 130, out + err
    assert SECRET not in out + err


def _while_running(api: docker.APIClient, program: str, replaying: subprocess.Popen[str]) -> tuple[str, str]:
    """Everything the engine tells of the container in which ``program`` runs."""
    limit = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < limit and replaying.poll() is None:
        for entry in api.containers(filters={"label": "io.sandbox-runner.role=workload"}):
            programs = _programs(api, entry["Id"])
            if program in programs:
                return json.dumps(api.inspect_container(entry["Id"])), programs
    raise AssertionError(f"no such program came up; the replay ended with {replaying.poll()}")


def _programs(api: docker.APIClient, container: str) -> str:
    try:
        listed: dict[str, Any] = api.top(container, ps_args="-eo pid,args")
    except APIError:
        return ""  # it is over, or not up yet
    return "\n".join(" ".join(row) for row in listed["Processes"] or [])
