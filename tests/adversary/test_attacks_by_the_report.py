"""Threat: a whole replay of a hostile report: what reaches the terminal, the evidence and the disk (rows 6, 9, 17)."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from pathlib import Path

import pytest
from boundaries import here
from controllers import finish, recorded
from harness import attack

SHOUT = r"""
import os, sys
for name in (b"\x1b[2Jgone", b"new\nline", b"bad\xff", b"<script>alert(1)<", "\u202egpj.exe".encode()):
    with open(name, "wb") as file:
        file.write(b"x")
os.write(1, b"\x1b]0;owned\x07\x1b[31m\x9b2J <script>alert(1)</script>\n")
os.write(2, b"\x1b[8mhidden\r\n")
sys.exit(3)
"""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nothing_hostile_reaches_the_terminal(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Row 9: escapes in names and output are never printed raw: not in text, not in JSON, not in the evidence."""
    case = recorded(tmp_path, {"shout.py": SHOUT, "\x1b[31mred": "x"}, ("python3", "shout.py"), exit_code=3)
    done = finish(case.replay(*options))
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr + (case.out / "result.json").read_bytes()
    assert all(byte == 0x0A or byte >= 0x20 for byte in told)
    assert "\u202e" not in told.decode("ascii")


NAMES = ("out/plain", "out/..hidden/x", "out/new\nline", "out/\\..\\..\\up", "out/result.json", "out/report.html")
MAKE_NAMES = f"""
import os
os.makedirs("out/..hidden")
for name in {NAMES!r}:
    with open(name, "w") as file:
        file.write(name)
os.symlink("/etc/passwd", "out/passwd")
"""


def test_evidence_has_our_names_only(tmp_path: Path) -> None:
    """Row 6: whatever the artifacts are called inside, the evidence's names are ours, and it has no links."""
    case = recorded(tmp_path, {"go.py": MAKE_NAMES}, ("python3", "go.py"), artifacts=("out/**",))
    done = finish(case.replay("--json"))
    sample, = json.loads(done.stdout)["samples"]
    assert {taken["sha256"] for taken in sample["artifacts"]} == {sha256(name.encode()).hexdigest() for name in NAMES}
    inside = [path.relative_to(case.out) for path in case.out.rglob("*")]
    assert all(set(part) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for path in inside for part in path.parts)
    assert not any((case.out / path).is_symlink() for path in inside)
    assert (case.out / "result.json").read_bytes().startswith(b"{")


def test_artifact_that_leads_out_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """Row 6: a report that declares ../../x is no report."""
    case = recorded(tmp_path, {}, "true", artifacts=("inside",))
    case.report.write_text(case.report.read_text().replace('"inside"', '"../../x"'))
    done = finish(case.replay("--json"))
    assert (done.returncode, case.out.exists(), json.loads(done.stdout)["code"]) == (2, False, "report")


def test_value_of_a_given_variable_is_in_no_evidence(tmp_path: Path) -> None:
    """Row 14: name and digest are recorded, the value is nowhere: not printed, not stored."""
    secret = secrets.token_hex(16)
    case = recorded(tmp_path, {}, 'test -n "$TOKEN"; exit 3', exit_code=3, env={"TOKEN": secret})
    done = finish(case.replay("--json", "--env", f"TOKEN={secret}"))
    assert done.returncode == 0, done.stderr
    stored = b"".join(path.read_bytes() for path in case.out.rglob("*") if path.is_file())
    assert secret.encode() not in done.stdout + done.stderr + stored
    assert json.loads(done.stdout)["environment_names"] == ["TOKEN"]


def test_evidence_is_private_and_complete(tmp_path: Path) -> None:
    """Row 17: directories 0700, files 0600, output stored with the digest that was told."""
    case = recorded(tmp_path, {}, "printf loud; printf ly >&2; exit 3", exit_code=3)
    sample, = json.loads(finish(case.replay("--json")).stdout)["samples"]
    assert {oct(path.stat().st_mode & 0o777) for path in case.out.rglob("*") if path.is_file()} == {"0o600"}
    assert oct(case.out.stat().st_mode & 0o777) == "0o700"
    assert sample["stdout"]["sha256"] == sha256((case.out / sample["stdout"]["file"]).read_bytes()).hexdigest()
    assert sample["output_sha256"] == sha256(b"loudly").hexdigest()


def test_full_volume_becomes_a_disk_limit_in_the_evidence(tmp_path: Path) -> None:
    """Row 19: the oracle does not match and the volume is full: cause disk_limit, exit 1."""
    case = recorded(tmp_path, {}, "cat /dev/zero > a; cat /dev/zero > b; exit 9", exit_code=3)
    done = finish(case.replay("--json"))
    sample, = json.loads(done.stdout)["samples"]
    assert (sample["cause"], sample["outcome"], sample["accepted"]) == ("disk_limit", "resource_exhausted", False)
    assert (sample["workspace"], done.returncode) == ("full_bytes", 1)


def test_payload_of_the_caller_is_as_it_was(tmp_path: Path) -> None:
    """Row 3: a run that destroys its copy changes neither content, mode nor times of the original."""
    def state(root: Path) -> list[tuple[str, int, int, bytes]]:
        return [(str(path), path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
                for path in sorted(root.rglob("*"))]

    case = recorded(tmp_path, {"a/b": "x", "c": "y"}, "rm -rf a c; chmod -R 0 .; exit 3", exit_code=3)
    before = state(case.payload)
    assert finish(case.replay("--runs", "2")).returncode == 0
    assert state(case.payload) == before


def test_command_of_a_report_needs_consent(tmp_path: Path) -> None:
    """Row 14: without --yes nothing runs; what would run is shown, safely."""
    case = recorded(tmp_path, {}, "printf '\\033[31m'; rm -rf / \x1b[2J")
    done = finish([word for word in case.replay() if word != "--yes"])
    assert (done.returncode, case.out.exists()) == (2, False)
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"rm -rf /" in done.stdout


def test_destroying_everything_in_reach_reaches_nothing() -> None:
    """Row 3: rm -rf / as the last word: only the run's own volume and scratch space are emptied."""
    command = "rm -rf --no-preserve-root / 2>/dev/null; ls /bin/sh /etc/passwd; exit 7"
    for seen in attack({"keep": "x"}, command, runs=2):
        assert (seen.status.returncode, seen.stdout.kept) == here((7, b"/bin/sh\n/etc/passwd\n"))
        assert [(change.kind, change.path) for change in seen.changes] == [("removed", b"keep")]
