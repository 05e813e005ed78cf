"""``runner doctor``: each check, what it says, and that what is wrong comes with what mends it."""

import json
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from runner.cli.doctor import command
from runner.controller import doctor
from runner.controller.doctor import builder, disk, examine, load_engine, store
from runner.errors import EngineUnavailable, ImageUnavailable
from runner.images import process
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker import checkup
from runner.sandbox.backends.docker.checkup import check_up, image, memory
from runner.sandbox.backends.docker.imagestate import ImageState
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import load_policy

POLICIES = [load_policy("default"), load_policy("strict")]
INFO = {"ServerVersion": "29.5.1", "OSType": "linux", "Architecture": "x86_64", "MemTotal": 8 << 30,
        "CgroupVersion": "2", "MemoryLimit": True, "SwapLimit": True, "CpuCfsQuota": True, "PidsLimit": True,
        "SecurityOptions": ["name=seccomp,profile=default"], "DefaultRuntime": "runc",
        "Runtimes": {"runc": {}, "runsc": {"runtimeArgs": ["--oci-seccomp"]}}}
PRESENT = ImageState("steward", "present", "t", "r", id="sha256:1")


@pytest.fixture
def engine(monkeypatch):
    """An engine that says of itself what a test wants."""
    def make(api_version="1.51", images=(PRESENT,), **info):
        api = SimpleNamespace(info=lambda: INFO | info, api_version=api_version, base_url="http+docker://localhost")
        monkeypatch.setattr(checkup, "connect", lambda: api)
        monkeypatch.setattr(checkup, "image_states", lambda *_: images)
        return {finding.name: finding for finding in check_up()}

    return make


def test_a_fit_engine_has_nothing_to_mend(engine):
    found = engine()
    assert {finding.status for finding in found.values()} == {"ok"}
    assert {finding.fix for finding in found.values()} == {""}
    assert list(found) == ["engine", "reached", "api", "image store", "cgroup", "limits", "seccomp", "gvisor", "memory",
                           "image steward"]


@pytest.mark.parametrize(("name", "status", "changes"), [
    ("api", "fail", {"api_version": "1.40"}), ("known issue", "warn", {"ServerVersion": "20.10.24+dfsg1"}),
    ("known issue", "warn", {"ServerVersion": "29.5.0"}), ("limits", "fail", {"PidsLimit": False}),
    ("limits", "fail", {"SwapLimit": False}), ("seccomp", "fail", {"SecurityOptions": []}),
    ("gvisor", "warn", {"Runtimes": {"runc": {}}}), ("gvisor", "warn", {"Runtimes": {"runsc": {}}}),
    ("memory", "warn", {"MemTotal": 1 << 30}), ("memory", "fail", {"MemTotal": 900 << 20}),
    ("differs", "warn", {"BuildahVersion": "1.28"}),
    ("image steward", "fail", {"images": (replace(PRESENT, state="missing", id=""),)}),
    ("image steward", "warn", {"images": (replace(PRESENT, state="different", note="another build"),)})])
def test_what_is_wrong_is_named_with_what_mends_it(engine, name, status, changes):
    found = engine(**changes)[name]
    assert (found.status, found.fix != "") == (status, True)


def test_the_oldest_engine_that_will_do(engine):
    assert engine(api_version="1.41")["api"].status == "ok"


@pytest.mark.parametrize(("version", "named"), [
    ("18.09.6", ["CVE-2018-15664", "CVE-2026-41567"]), ("18.09.7", ["CVE-2026-41567"]), ("29.5.1", [])])
def test_versions_below_a_fix_name_it(version, named):
    found = list(checkup._known_bad(BackendFacts("docker", product="docker", version=version)))
    assert [finding.seen.split(":")[0] for finding in found] == named


def test_memory_names_the_policy_that_fits():
    tight = memory(BackendFacts("docker", memory=1 << 30), POLICIES)
    assert (tight.status, "too little for default" in tight.seen, "--policy strict" in tight.fix) == (
        "warn", True, True)


def test_a_stale_image_is_told_from_a_missing_one():
    stale = image(ImageState("command", "missing", "t", "r", note="built from another recipe"))
    assert (stale.seen, stale.fix) == ("stale: built from another recipe", "runner images build command")
    assert image(ImageState("command", "missing", "t", "r")).seen == "is not on this engine"


@pytest.mark.parametrize(("name", "status"), [("command", "fail"), ("steward", "fail"), ("browser", "warn")])
def test_who_plays_no_browser_session_needs_no_browser(name, status):
    missing = image(ImageState(name, "missing", "t", "r"))
    assert (missing.status, missing.fix) == (status, f"runner images build {name}")


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    found = store(tmp_path / "a" / ".runner")
    assert (found.status, found.fix) == ("ok", "")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_one(tmp_path):
    (tmp_path / "index.db").write_bytes(b"no database of ours, but something else entirely" * 100)
    os.chmod(tmp_path / "index.db", 0o600)
    found = store(tmp_path)
    assert (found.status, "RUNNER_STORE" in found.fix) == ("fail", True)


def test_a_place_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    found = store(tmp_path / ".runner")
    assert (found.status, str(tmp_path) in found.seen, "RUNNER_STORE" in found.fix) == ("fail", True, True)


@pytest.mark.parametrize(("free", "status"), [(2 << 30, "ok"), ((2 << 30) - 1, "warn")])
@pytest.mark.parametrize("name", ["disk", "cache"])
def test_disk_room(tmp_path, monkeypatch, name, free, status):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    found = disk(name, tmp_path / "not" / "there")
    assert (found.status, found.fix != "") == (status, status == "warn")


def test_an_image_builder_is_wished_for(monkeypatch):
    monkeypatch.setattr(process, "_PATH", "/nowhere")
    found = builder()
    assert (found.status, "mmdebstrap" in found.fix) == ("warn", True)


class Loads:
    """A backend whose k6 image and session are what a test wants."""

    def __init__(self, image=True, fault=None, said=b"k6 v9\nmore\n", code=0):
        self._image, self._fault = image, fault
        self._run = FakeRun(ExitStatus(Cause.EXITED, code), stdout=said)

    def own_image(self, name):
        if not self._image:
            raise ImageUnavailable(f"{name} is not there")
        return ResolvedImage("sha256:1", name, "linux/amd64", "id")

    def open(self, plan, sealed):
        if self._fault is not None:
            raise self._fault
        return FakeBackend([self._run]).open(plan, sealed)


@pytest.mark.parametrize(("backend", "status", "seen"), [
    (Loads(), "ok", "k6 v9"), (Loads(said=b""), "fail", "does not say its version"),
    (Loads(code=1), "fail", "does not say its version"), (Loads(fault=EngineUnavailable("gone")), "fail", "gone")])
def test_k6_is_run_to_see_that_it_runs(backend, status, seen):
    found, = load_engine(backend)
    assert (found.name, found.status, found.seen) == ("k6", status, seen)
    assert (found.fix != "") == (status != "ok")


def test_without_its_image_there_is_nothing_to_run():
    assert load_engine(Loads(image=False)) == ()


@pytest.fixture
def no_engine(monkeypatch, tmp_path):
    def none():
        raise EngineUnavailable("no engine answers", hint="start it")

    monkeypatch.setattr(checkup, "connect", none)
    monkeypatch.chdir(tmp_path)


def test_without_an_engine_the_rest_is_still_told(no_engine):
    found = {finding.name: finding for finding in examine()}
    assert list(found) == ["engine", "store", "disk", "cache", "image builder"]
    assert (found["engine"].status, found["engine"].fix != "") == ("fail", True)


def test_json_is_stable_and_the_exit_code_is_1(no_engine):
    done = CliRunner().invoke(command, ["--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["schema"], document["ok"]) == (1, "runner.doctor/1", False)
    assert document.keys() == {"schema", "ok", "checks"}
    for finding in document["checks"]:
        assert finding.keys() == {"name", "status", "seen", "fix"}
        assert (finding["status"] == "ok") == (finding["fix"] == "")


def test_text_has_a_fix_line_and_no_colour_in_a_pipe(no_engine):
    done = CliRunner().invoke(command, [])
    assert done.stdout.startswith("FAIL  engine ")
    assert "fix: start it" in done.stdout
    assert "\x1b" not in done.stdout


def test_warnings_do_not_fail(monkeypatch):
    monkeypatch.setattr(doctor, "check_up", lambda: (checkup.Finding("gvisor", "warn", "none", "install it"),))
    assert CliRunner().invoke(command, []).exit_code == 0
