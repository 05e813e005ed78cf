"""The kit on podman's Docker-compatible API, every difference that its facts declare, and a handful of attacks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest
from docker_subject import Watched, subject_on
from other_engines import KNOWN_HOST, OtherEngine, podman, with_images

from runner.controller.bounds import seal_limits
from runner.errors import LimitNotEnforced
from runner.payload.seal import seal
from runner.sandbox.backends.conformance import BEHAVIOURS, Behaviour, check
from runner.sandbox.backends.conformance.kit import Stage, sh
from runner.sandbox.backends.docker import podman as dialect
from runner.sandbox.backends.docker.attach import Attachment
from runner.sandbox.backends.docker.container import Container
from runner.sandbox.backends.docker.facts import PODMAN_DIFFERENCES, probe_engine
from runner.sandbox.exit import Cause

ATTACKS = Path(__file__).resolve().parent.parent / "adversary"
CHOSEN = (
    "test_attacks_on_resources.py::test_fork_bomb_is_held_and_ended",
    "test_attacks_on_resources.py::test_memory_of_the_main_process_is_oom_killed",
    "test_attacks_on_resources.py::test_memory_of_a_child_does_not_change_the_cause",
    "test_attacks_on_resources.py::test_memory_in_system_v_segments_is_charged",
    "test_attacks_on_resources.py::test_scratch_space_is_capped_in_bytes",
    "test_attacks_on_the_leash.py::test_leash_that_ends_ends_the_workload",
    "test_attacks_on_the_leash.py::test_lifetime_ends_what_the_leash_does_not",
    "test_attacks_across_runs.py::test_name_that_somebody_else_took_is_neither_used_nor_removed",
)


@pytest.fixture(scope="module")
def engine() -> Iterator[OtherEngine]:
    with with_images(podman()) as running:
        yield running


@pytest.fixture(scope="module")
def api(engine: OtherEngine) -> Iterator[docker.APIClient]:
    client = engine.client()
    yield client
    client.close()


@pytest.fixture
def stage(api: docker.APIClient, tmp_path: Path) -> Stage:
    subject = subject_on(api)
    (tmp_path / "payload").mkdir()
    return Stage(subject, subject.backend(""), seal(tmp_path / "payload", seal_limits(subject.policy)))


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_podman_shows(behaviour: Behaviour, api: docker.APIClient) -> None:
    check(behaviour, subject_on(api))


def test_what_it_is_and_how_it_differs_is_told(api: docker.APIClient) -> None:
    facts = probe_engine(api)
    assert (facts.product, facts.rootless, facts.userns_remap) == ("podman", False, False)
    assert facts.differences == PODMAN_DIFFERENCES
    assert (facts.not_enforced, facts.boundary) == ((), "container (runc, shared kernel)")


def test_memory_kills_are_told_by_the_init_and_not_by_the_engine(stage: Stage, api: docker.APIClient) -> None:
    with stage.session(("python3", "-c", "hoard = [bytearray(1 << 24) for _ in range(1 << 10)]")) as session:
        run = session.prepare(1)
        status = run.execute().status
        assert isinstance(stage.backend, Watched)
        state = api.inspect_container(f"runner-{stage.backend.marks[-1]}-run-0001")["State"]
        run.discard()
    assert (status.cause, status.returncode, status.signal) == (Cause.OOM_KILLED, 137, 9)
    if probe_engine(api).cgroup == "1":
        assert state["OOMKilled"] is False


def test_hosts_variables_folders_and_process_limit_differ_as_declared(stage: Stage) -> None:
    said = stage.run(sh("cat /etc/hosts; env; ls -A /run /var/tmp; ulimit -p; df -P -i /tmp;"
                        "touch /run/x; touch /var/tmp/x; touch /x"))
    lines = said.stdout.kept.decode().splitlines()
    assert ["192.0.2.9", KNOWN_HOST] in [line.split() for line in lines]
    assert {"container=podman", "TERM=xterm", "HOSTNAME=sandbox"} <= set(lines)
    assert lines[lines.index("/run:"):lines.index("/run:") + 4] == ["/run:", "", "/var/tmp:", "32768"]
    assert said.stderr.kept.count(b"Read-only file system") == 3
    assert lines[-1].split()[1] == str(stage.subject.policy.tmp.inodes)


def test_a_workload_waits_for_a_steward_that_starts_late(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The volume with the init is filled by the steward's start: whoever came first would find it empty."""
    start = Container.start

    def late(container: Container) -> Attachment:
        if "steward" in container._spec.name:
            threading.Event().wait(2)
        return start(container)

    monkeypatch.setattr(Container, "start", late)
    assert stage.run(sh("exit 5")).status.returncode == 5


def test_a_profile_that_it_cannot_read_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch,
                                                  tmp_path: Path) -> None:
    """As when the engine is on another host."""
    monkeypatch.setattr(dialect, "data_dir", lambda _: tmp_path)
    with pytest.raises(LimitNotEnforced, match=r"^seccomp is not enforced: .*no such file"):
        stage.run(sh(":"))
    assert stage.subject.leftovers() == []


def test_another_profile_in_the_place_of_ours_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch,
                                                         tmp_path: Path) -> None:
    (tmp_path / "seccomp").mkdir()
    (tmp_path / "seccomp" / "workload.json").write_text('{"defaultAction": "SCMP_ACT_ALLOW"}')
    monkeypatch.setattr(dialect, "data_dir", lambda _: tmp_path)
    with pytest.raises(LimitNotEnforced, match=r"^seccomp is not enforced: .*another one"):
        stage.run(sh(":"))


def test_a_runtime_that_a_policy_names_is_refused(stage: Stage) -> None:
    policy = stage.subject.policy.model_copy(update={"runtime": "runsc"})
    with pytest.raises(LimitNotEnforced, match="needs the runtime runsc"):
        stage.run(sh(":"), policy=policy)


def test_a_replay_names_the_product_and_the_doctor_its_differences(engine: OtherEngine, tmp_path: Path) -> None:
    report, payload = tmp_path / "report.json", tmp_path / "payload"
    payload.mkdir()
    recorded = engine.runner("record", "--payload", payload, "--command", "echo out; exit 3", "--match", "out",
                             "--runs", "1", "-o", report)
    assert recorded.returncode == 0, recorded.stderr
    done = engine.runner("replay", report, "--payload", payload, "--yes", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert f": {len(PODMAN_DIFFERENCES)} differences from Docker" in done.stdout
    told = json.loads((tmp_path / "run" / "result.json").read_text())["engine"]
    assert (told["product"], tuple(told["differences"])) == ("podman", PODMAN_DIFFERENCES)
    doctor = json.loads(engine.runner("doctor", "--json").stdout)
    assert [check["seen"] for check in doctor["checks"] if check["name"] == "differs"] == list(PODMAN_DIFFERENCES)
    assert [check for check in doctor["checks"] if check["name"] == "known issue"] == []


def test_killed_controller_takes_its_containers_along(engine: OtherEngine, api: docker.APIClient,
                                                      tmp_path: Path) -> None:
    """The kernel closes the dead controller's socket: the leashes of steward and workload end."""
    (tmp_path / "payload").mkdir()
    command = [sys.executable, "-m", "runner", "record", "--payload", str(tmp_path / "payload"), "--command",
               "exec sleep 600", "-o", str(tmp_path / "report.json"), "--runs", "1"]
    with subprocess.Popen(command, env=engine.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as controller:
        wait_for(lambda: len(api.containers()) == 2)
        controller.kill()
    wait_for(lambda: api.containers() == [])
    assert engine.runner("gc", "--grace", "0").returncode == 0
    assert (api.containers(all=True), api.volumes()["Volumes"]) == ([], [])


def wait_for(happened: Callable[[], bool]) -> None:
    """Return once it is so."""
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        threading.Event().wait(0.1)


def test_chosen_attacks_fail_as_on_docker(engine: OtherEngine) -> None:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHOSEN], cwd=ATTACKS,
                          env=engine.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    assert f"{len(CHOSEN) + 1} passed" in done.stdout  # scratch space is two
