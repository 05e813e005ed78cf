"""Threat: a controller that is interrupted or killed, or that is not the only one (row 14)."""

from __future__ import annotations

import json
import secrets
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from controllers import finish, recorded, running, session_of, started, swept
from harness import of_session
from waiting import eventually

DOCKER = "runner.sandbox.backends.docker"
MOMENTS = {
    "settling": "runner.controller.settle:parse_case",
    "asking the engine": f"{DOCKER}.backend:probe_engine",
    "sealing": "runner.controller.replay:seal_for",
    "sweeping": f"{DOCKER}.backend:sweep",
    "creating volumes": f"{DOCKER}.group:Group._create_volumes",
    "creating a container": f"{DOCKER}.container:Container._create",
    "starting a container": f"{DOCKER}.container:Container.start",
    "putting the payload": "runner.sandbox.steward:Steward.put",
    "cloning": "runner.sandbox.steward:Steward.clone",
    "releasing the workload": f"{DOCKER}.run:release_message",
    "running": f"{DOCKER}.run:pump",
    "waiting for the end": f"{DOCKER}.container:Container.wait",
    "inspecting": f"{DOCKER}.run:DockerRun.inspect",
    "discarding": f"{DOCKER}.run:DockerRun.discard",
    "keeping the output": "runner.evidence.store:RunDirectory.keep",
    "closing the session": f"{DOCKER}.session:DockerSession.close",
    "closing the group": f"{DOCKER}.group:Group.close",
    "removing what is left": f"{DOCKER}.session:remove_session",
    "checking the payload again": "runner.controller.replay:check_unchanged",
    "writing the result": "runner.evidence.store:RunDirectory.finish",
}
DRIVER = str(Path(__file__).with_name("interrupting.py"))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_interrupt_leaves_nothing(number: str, moment: str, tmp_path: Path) -> None:
    """Row 14: Ctrl-C or TERM, whatever it hits: exit 130, one line, no container, no volume, no half evidence."""
    case, mark = recorded(tmp_path, {"data": "x"}, "echo out; exit 3"), secrets.token_hex(6)
    done = finish([sys.executable, DRIVER, number, MOMENTS[moment], mark, *case.arguments("--runs", "2", "--quiet")])
    assert (done.returncode, of_session(mark)) == (130, []), done.stderr
    assert done.stderr.decode().startswith(f"runner: interrupted by {number}")
    assert done.stderr.count(b"\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"payload", "policy.yaml", "report.json"}


def test_second_interrupt_does_not_stop_the_cleaning_up(tmp_path: Path) -> None:
    """Row 14: an impatient second Ctrl-C while containers are being removed changes nothing."""
    case, mark = recorded(tmp_path, {}, "sleep 600"), secrets.token_hex(6)
    places = ",".join(MOMENTS[name] for name in ("running", "closing the group", "removing what is left"))
    done = finish([sys.executable, DRIVER, "SIGINT", places, mark, *case.arguments()])
    assert (done.returncode, of_session(mark)) == (130, []), done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_from_outside_while_the_workload_runs(number: signal.Signals, tmp_path: Path) -> None:
    """Row 14: as a person does it: the workload sleeps, the signal comes, nothing stays."""
    case = recorded(tmp_path, {}, f"sleep 600{int(number):03}")
    with started(case.replay("--runs", "3", "--jobs", "2", "--json")) as controller:
        mark = session_of(f"600{int(number):03}")
        controller.send_signal(number)
        answer, complaint = controller.communicate(timeout=30)
    assert (controller.returncode, of_session(mark)) == (130, []), complaint
    assert json.loads(answer)["code"] == "interrupted"
    assert not case.out.exists()


def test_killed_controller_takes_its_containers_along(tmp_path: Path) -> None:
    """Row 14: SIGKILL: the leash ends every container in seconds; gc removes the volumes; no half-written evidence."""
    case = recorded(tmp_path, {}, "sleep 601001")
    with started(case.replay("--runs", "3", "--jobs", "2")) as controller:
        mark = session_of("601001")
        controller.kill()
        controller.wait()
    eventually(lambda: running(mark) == [], "containers outlive their controller", 10)
    swept(lambda: of_session(mark))
    assert not case.out.exists()


def test_killed_controller_whose_run_stopped_the_init(tmp_path: Path) -> None:
    """Row 13, 14: where a run can stop PID 1, leash and timer of the init do nothing: gc ends it all the same."""
    case = recorded(tmp_path, {}, "kill -STOP 1; sleep 603001")
    with started(case.replay()) as controller:
        mark = session_of("603001")
        controller.kill()
        controller.wait()
    swept(lambda: of_session(mark))


def test_sweep_spares_the_living(tmp_path: Path) -> None:
    """Row 14, 20: gc beside a killed and a living controller removes what was the one's, nothing of the other's."""
    dead, alive = (recorded(tmp_path / name, {}, f"sleep 60200{number}") for number, name in enumerate(("a", "b")))
    with started(alive.replay()) as other:
        living = session_of("602001")
        before = of_session(living)
        with started(dead.replay()) as controller:
            mark = session_of("602000")
            controller.kill()
            controller.wait()
        swept(lambda: of_session(mark))
        assert of_session(living) == before
        assert len(running(living)) == 2
        other.terminate()
        other.communicate(timeout=30)
    assert (other.returncode, of_session(living)) == (130, [])


def test_two_controllers_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Row 14, 15: four controllers, each with its own payload and verdict."""
    with ExitStack() as stack:
        controllers = {}
        for code in range(4, 8):
            case = recorded(tmp_path / f"{code}", {"code": f"{code}"}, "exit $(cat code)", exit_code=code)
            controllers[code] = stack.enter_context(started(case.replay("--runs", "2", "--json")))
        for code, controller in controllers.items():
            answer, complaint = controller.communicate(timeout=60)
            assert controller.returncode == 0, complaint
            assert {sample["returncode"] for sample in json.loads(answer)["samples"]} == {code}
