from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import EngineUnavailable, PayloadChanged, SeedMismatch, SetupError, UsageError
from runner.payload.seal import DEFAULT_LIMITS, SealedPayload, seal
from runner.sandbox.backends.base import Aftermath, Execution, Plan
from runner.sandbox.backends.host import HostBackend, worktree
from runner.sandbox.exit import Cause
from runner.sandbox.policy import load_policy

CALLER = {"PATH": os.environ["PATH"], "LANG": "xx_XX", "LC_TIME": "yy_YY", "TERM": "dumb", "TOKEN": "secret",
          "AWS_SECRET_ACCESS_KEY": "secret", "LD_PRELOAD": ""}


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    root = tmp_path / "payload"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "file.txt").write_text("text\n")
    (root / "private.txt").write_text("p\n")
    (root / "private.txt").chmod(0o640)
    return root


@pytest.fixture
def sealed(payload: Path) -> SealedPayload:
    return seal(payload, DEFAULT_LIMITS)


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    path = tmp_path / "temp"
    path.mkdir()
    return path


def plan(script: str, **changes: object) -> Plan:
    made = Plan(argv=("/bin/sh", "-c", script), cwd=".", env=(), policy=load_policy("default"), timeout=60, runs=1)
    return replace(made, **changes)  # type: ignore[arg-type]


def run(temp: Path, sealed: SealedPayload, chosen: Plan, *, inherit_env: bool = False,
        environ: Mapping[str, str] = CALLER) -> tuple[Execution, Aftermath]:
    backend = HostBackend(temp_root=str(temp), inherit_env=inherit_env, environ=environ)
    with backend.open(chosen, sealed) as session:
        prepared = session.prepare(1)
        executed = prepared.execute()
        aftermath = prepared.inspect()
        prepared.discard()
    assert list(temp.iterdir()) == []
    return executed, aftermath


def variables(execution: Execution) -> dict[str, str]:
    return dict(line.split("=", 1) for line in execution.stdout.kept.decode().split("\0")[:-1])


def test_the_facts_say_that_there_is_no_boundary_and_what_does_not_hold() -> None:
    facts = HostBackend().probe()
    assert facts.boundary == "none (host)"
    assert {"network", "memory", "pids", "work", "seccomp", "user"} <= set(facts.not_enforced)
    assert {"timeout", "output", "nofile", "file_size"} <= set(facts.enforced)


def test_it_needs_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(EngineUnavailable, match="needs Linux"):
        HostBackend().probe()


def test_there_are_no_images() -> None:
    assert HostBackend().resolve_image("debian") is None


def test_a_run_sees_an_allow_list_the_policy_and_what_was_given(temp: Path, sealed: SealedPayload) -> None:
    execution, _ = run(temp, sealed, plan("env -0", env=(("GIVEN", "1"), ("TZ", "Asia/Tokyo"))))
    seen = variables(execution)
    assert seen.pop("PWD", "") == execution.root  # the shell's own
    assert seen == {**load_policy("default").env, "PATH": CALLER["PATH"], "LC_TIME": "yy_YY", "TERM": "dumb",
                    "GIVEN": "1", "TZ": "Asia/Tokyo"}


def test_a_person_may_pass_the_whole_environment(temp: Path, sealed: SealedPayload) -> None:
    seen = variables(run(temp, sealed, plan("env -0"), inherit_env=True)[0])
    assert (seen["TOKEN"], seen["LANG"]) == ("secret", "C.UTF-8")


def test_the_copy_lies_in_a_private_directory_under_the_name_that_was_asked_for(temp: Path,
                                                                                sealed: SealedPayload) -> None:
    with HostBackend(temp_root=str(temp)).open(plan("pwd -P", working_copy="my-repro"), sealed) as session:
        root, = temp.iterdir()
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        execution = session.prepare(1).execute()
    assert execution.root == str(root / "run-0001" / "my-repro")
    assert execution.stdout.kept.decode() == execution.root + "\n"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/abs", "a\0b"])
def test_a_working_copy_has_one_plain_name(name: str, temp: Path, sealed: SealedPayload) -> None:
    with pytest.raises(UsageError, match="working copy"), \
            HostBackend(temp_root=str(temp)).open(plan(":", working_copy=name), sealed):
        pass
    assert list(temp.iterdir()) == []


@pytest.mark.parametrize("cwd", ["/", "..", "sub/../..", "/etc"])
def test_a_working_directory_lies_in_the_payload(cwd: str, temp: Path, sealed: SealedPayload) -> None:
    with pytest.raises(UsageError, match="does not lie in the payload"), \
            HostBackend(temp_root=str(temp)).open(plan(":", cwd=cwd), sealed):
        pass


def test_a_missing_working_directory_is_not_started(temp: Path, sealed: SealedPayload) -> None:
    status = run(temp, sealed, plan(":", cwd="no\nwhere"))[0].status
    assert (status.cause, status.returncode) == (Cause.NOT_STARTED, None)
    assert "no\\nwhere is not in the payload" in status.detail


def test_a_payload_that_changes_between_runs_is_noticed(temp: Path, payload: Path, sealed: SealedPayload) -> None:
    with HostBackend(temp_root=str(temp)).open(plan(":", runs=2), sealed) as session:
        session.prepare(1).discard()
        (payload / "sub" / "file.txt").write_text("TEXT\n")
        with pytest.raises(PayloadChanged):
            session.prepare(2)
    assert list(temp.iterdir()) == []


def test_a_copy_that_is_not_what_was_sealed_is_refused(temp: Path, sealed: SealedPayload,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    real = worktree.unpack

    def forgetful(read: object, root_fd: int, limits: object) -> None:
        real(read, root_fd, limits)  # type: ignore[arg-type]
        os.unlink("private.txt", dir_fd=root_fd)

    monkeypatch.setattr(worktree, "unpack", forgetful)
    with HostBackend(temp_root=str(temp)).open(plan(":"), sealed) as session, pytest.raises(SeedMismatch):
        session.prepare(1)
    assert list(temp.iterdir()) == []


def test_a_full_disk_is_a_setup_error_and_leaves_nothing(temp: Path, sealed: SealedPayload,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(worktree, "unpack", full)
    with HostBackend(temp_root=str(temp)).open(plan(":"), sealed) as session, \
            pytest.raises(SetupError, match="run 1 could not be made: No space left"):
        session.prepare(1)
    assert list(temp.iterdir()) == []


def test_no_directory_for_copies_is_a_setup_error(tmp_path: Path, sealed: SealedPayload) -> None:
    with pytest.raises(SetupError, match="no private directory"), \
            HostBackend(temp_root=str(tmp_path / "missing")).open(plan(":"), sealed):
        pass


@pytest.mark.parametrize("script", [
    "mv ../repository ../elsewhere", "mv ../repository ../elsewhere && ln -s /etc ../repository",
    "mv ../repository ../elsewhere && mkdir ../repository"])
def test_a_work_tree_that_was_moved_away_is_said_to_be(script: str, temp: Path, sealed: SealedPayload) -> None:
    execution, aftermath = run(temp, sealed, plan(script))
    assert execution.status.returncode == 0
    assert aftermath == Aftermath(after=None, note="the workload moved or replaced its work tree")


def test_closed_parents_do_not_keep_the_copies_from_being_removed(temp: Path, sealed: SealedPayload) -> None:
    execution, aftermath = run(temp, sealed, plan("chmod 0 ../.. .. ."))
    assert execution.status.returncode == 0
    assert aftermath.changes == ()


def test_more_entries_than_a_work_volume_holds_are_not_listed(temp: Path, sealed: SealedPayload) -> None:
    policy = load_policy("default")
    small = policy.model_copy(update={"work": policy.work.model_copy(update={"inodes": 10})})
    _, aftermath = run(temp, sealed, plan("for n in 1 2 3 4 5 6 7 8 9 a; do : > $n; done", policy=small))
    assert (aftermath.after, aftermath.changes) == (None, ())
    assert "too_many_files" in aftermath.note


def test_a_file_larger_than_a_work_volume_is_listed_but_not_read(temp: Path, sealed: SealedPayload) -> None:
    policy = load_policy("default")
    small = policy.model_copy(update={"work": policy.work.model_copy(update={"size": 4096})})
    _, aftermath = run(temp, sealed, plan("truncate -s 1M sparse", policy=small))
    assert aftermath.after is None
    assert [(change.kind, change.path) for change in aftermath.changes] == [("added", b"sparse")]
    assert "sparse: too_large" in aftermath.note


def test_artifacts_over_their_cap_are_named(temp: Path, sealed: SealedPayload) -> None:
    policy = load_policy("default")
    small = policy.model_copy(update={"output": policy.output.model_copy(update={"artifacts": 5})})
    script = "mkdir -p a/b && printf 123 > a/b/one.log && printf 456 > two.log && printf 7 > three.log"
    _, aftermath = run(temp, sealed, plan(script, policy=small, artifacts=("**/*.log",)))
    assert [(taken.path, taken.data) for taken in aftermath.artifacts] == [(b"a/b/one.log", b"123"),
                                                                          (b"three.log", b"7")]
    assert aftermath.note == "artifact two.log left out: 3 bytes are over the cap"


def test_figures_are_there(temp: Path, sealed: SealedPayload) -> None:
    execution, _ = run(temp, sealed, plan(":"))
    assert execution.wall_seconds > 0
    assert execution.cpu_seconds is not None
    assert execution.peak_memory is not None


def test_nothing_is_executed_inspected_or_read_again_after_discard(temp: Path, sealed: SealedPayload) -> None:
    with HostBackend(temp_root=str(temp)).open(plan(":"), sealed) as session:
        prepared = session.prepare(1)
        prepared.discard()
        with pytest.raises(SetupError, match="cannot be executed"):
            prepared.execute()
        with pytest.raises(SetupError, match="cannot be inspected"):
            prepared.inspect()
