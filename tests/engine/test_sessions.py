"""Sessions of our own, end to end: recorded, kept, replayed by what they know themselves."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.engine.browser_cases import LOKI, payload_of, shown
from tests.engine.cli import runner

APP = LOKI / "crash" / "app.py"
BUGGY, FIXED = "python3 app.py --port 8801", "python3 app.py --port 8801 --fixed"
URL = "http://127.0.0.1:8801/"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return payload_of(APP, tmp_path_factory.mktemp("shop") / "payload")


def chaos(shop, out, *more):
    return runner("chaos", "--payload", shop, "--target-command", BUGGY, "--target-url", URL, "--seed", 7, "--out", out,
                  "--quiet", *more)


@pytest.fixture(scope="module")
def recorded(shop, tmp_path_factory):
    out = tmp_path_factory.mktemp("recorded") / "run"
    done = chaos(shop, out, "--steps", 6, "--json")
    assert done.code == 0, done
    return out, done.json


def test_a_recording_holds_all_that_was_seen(recorded):
    out, result = recorded
    assert {path.name for path in out.iterdir()} >= {"incident.json", "network.har", "replay.webm", "trace.zip",
                                                     "dom.html", "report.html", "repro_test.py", "result.json"}
    assert result["verdict"] == "recorded"
    assert len(shown(result, "recorded")) >= 2
    assert (out / "replay.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
    incident = json.loads((out / "incident.json").read_text())
    assert len(incident["replay_trace"]) == 6
    assert result["session"]["browser"]["sandbox"] == "on"
    assert all(failure["step"] is not None for failure in incident["runner"]["failures"])


def test_no_secret_of_the_application_is_kept(recorded):
    out, _ = recorded
    secrets = (b"demo-secret-1234", b"demo-bearer-token-0123456789", b"4111111111111111", b"demo-password")
    for path in out.rglob("*"):
        if path.is_file() and path.suffix not in (".png", ".webm"):
            data = path.read_bytes()
            assert not [secret for secret in secrets if secret in data], path.name


def test_a_recording_knows_its_application_and_is_reproduced(recorded):
    out, _ = recorded
    done = runner("replay", out, "--yes", "--json", "--quiet")
    assert done.code == 0, done
    assert not [*shown(done.json, "not_reproduced"), *shown(done.json, "partly")]
    assert done.json["fingerprint_mode"] == "exact"
    assert done.json["drift"] == []


def test_the_same_recording_is_gone_on_the_repaired_application(recorded, shop):
    out, _ = recorded
    done = runner("replay", out, "--payload", shop, "--target-command", FIXED, "--yes", "--json", "--quiet")
    assert done.code == 1, done
    assert not shown(done.json, "reproduced")


def test_the_same_seed_gives_the_same_trace_in_the_sandbox(recorded, shop, tmp_path):
    out, _ = recorded
    assert chaos(shop, tmp_path / "again", "--steps", 6, "--no-video").code == 0
    first, second = (json.loads((folder / "incident.json").read_text()) for folder in (out, tmp_path / "again"))
    assert first["replay_trace"] == second["replay_trace"]


def test_fail_on_find_is_an_exit_code(shop, tmp_path):
    done = chaos(shop, tmp_path / "run", "--steps", 3, "--no-video", "--fail-on-find", "--json")
    assert done.code == (1 if shown(done.json, "recorded") else 0)
    assert done.json["verdict"] == "recorded"


def test_a_race_is_recorded_and_replayed(shop, tmp_path):
    done = runner("chaos", "--payload", shop, "--target-command", BUGGY, "--target-url", f"{URL}coupon", "--seed", 7,
                  "--concurrency", 3, "--selector", "#redeem", "--out", tmp_path / "race", "--json", "--quiet")
    assert done.code == 0, done
    assert [failure["kind"] for failure in shown(done.json, "recorded")] == ["race"]
    again = runner("replay", tmp_path / "race", "--yes", "--json", "--quiet")
    assert again.code == 0, again


def test_latest_is_the_newest_recording(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    assert runner("replay", "latest", "--yes").code == 2
    done = runner("chaos", "--payload", shop, "--target-command", BUGGY, "--target-url", URL, "--seed", 3, "--steps", 4,
                  "--no-video", "--quiet", "--json")
    assert done.code == 0, done
    assert runner("replay", "latest").err.startswith("runner: nothing was run")


def test_a_browser_that_the_image_lacks_is_one_line(shop, tmp_path):
    done = chaos(shop, tmp_path / "run", "--steps", 1, "--browser", "firefox", "--json")
    assert done.code == 2, done
    assert "this image has no firefox" in " ".join(done.json["reasons"])


def test_a_device_that_nobody_knows_is_one_line_and_its_spelling_is_free(shop, tmp_path):
    done = chaos(shop, tmp_path / "run", "--steps", 1, "--device", "iphone-1500", "--json")
    assert done.code == 2, done
    assert "no device is called 'iphone-1500'; did you mean" in " ".join(done.json["reasons"])
    done = chaos(shop, tmp_path / "phone", "--steps", 1, "--device", "iphone-15", "--no-video", "--json")
    assert done.json["session"]["browser"]["device"] == "iPhone 15"


@contextmanager
def elsewhere():
    """The application on this host, outside of any sandbox."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, APP, "--port", str(port)], stdin=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def test_an_application_elsewhere_needs_an_opt_in_that_is_recorded_as_drift(tmp_path):
    with elsewhere() as port:
        url = f"http://127.0.0.1:{port}/"
        refused = runner("replay", LOKI / "crash", "--target-url", url, "--yes")
        assert refused.code == 2
        assert "--docker-network" in refused.err
        done = runner("replay", LOKI / "crash", "--target-url", url, "--docker-network", "host", "--yes", "--json",
                      "--quiet", "--out", tmp_path / "run")
    assert done.code == 0, done
    assert {"what": "network", "recorded": "none", "used": "host"} in done.json["drift"]
    assert any("outside the sandbox" in warning for warning in done.json["warnings"])


def test_a_strangers_run_directory_does_not_choose_what_is_read_here(recorded, shop, tmp_path, monkeypatch):
    out, _ = recorded
    shutil.copytree(out, tmp_path / "copy")
    refused = runner("replay", tmp_path / "copy", "--yes")
    assert refused.code == 2
    assert "--payload" in refused.err
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "another"))
    assert runner("replay", out, "--yes").code == 2
    shown_plan = runner("replay", out, "--payload", shop)
    assert str(shop) in shown_plan.out
