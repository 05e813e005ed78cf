"""Threat: what a run can learn of its host, and what of a caller's secrets can be read elsewhere (rows 14, 15)."""

from __future__ import annotations

import getpass
import json
import os
import platform
import secrets
import socket
from pathlib import Path
from typing import Any

import pytest
from boundaries import here
from harness import POLICY, Files, attack, attack_with, engine, opened, said

IMAGE_AND_POLICY = {"PATH", "HOME", "HOSTNAME", "LANG", "LC_ALL", "PYTHONHASHSEED", "TZ"}
LOOK = r"""
import json, os, platform, socket, time
texts = {}
for path in ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/passwd", "/proc/sys/kernel/hostname",
             "/proc/sys/kernel/domainname", "/proc/1/cmdline", "/proc/self/cgroup", "/etc/mtab", "/etc/machine-id",
             "/proc/sys/kernel/random/boot_id", "/proc/version", "/proc/cmdline"):
    try:
        texts[path] = open(path).read()
    except OSError as error:
        texts[path] = type(error).__name__
print(json.dumps({
    "environment": dict(os.environ), "hostname": socket.gethostname(), "node": platform.node(),
    "zone": time.tzname, "offset": time.localtime().tm_gmtoff, "user": os.popen("id").read().strip(),
    "home": os.path.expanduser("~"), "cwd": os.getcwd(), "umask": os.umask(0o22), "texts": texts,
    "hash": hash("seed"), "locale": os.popen("locale charmap 2>/dev/null || echo UTF-8").read().strip(),
    "wall": time.time()}))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    os.environ["RUNNER_TEST_CANARY"] = "canary-value"
    try:
        answer: dict[str, Any] = said(attack_with(LOOK, env={"GIVEN": "value"}))
    finally:
        del os.environ["RUNNER_TEST_CANARY"]
    return answer


def test_environment_has_known_names_only(seen: dict[str, Any]) -> None:
    """Row 15: the image's, the policy's and the given variables; nothing of the controller's own."""
    assert set(seen["environment"]) == IMAGE_AND_POLICY | {"GIVEN"}
    assert seen["environment"] | dict(POLICY.env) == seen["environment"]
    assert "canary-value" not in json.dumps(seen)


def test_host_name_is_ours(seen: dict[str, Any]) -> None:
    """Row 15: the host's name is nowhere: not in uname, not in /etc, not in /proc."""
    assert {seen["hostname"], seen["node"], seen["texts"]["/etc/hostname"].strip()} == {"sandbox"}
    words = set(json.dumps([seen["texts"], seen["environment"]]).replace('"', " ").split())
    assert socket.gethostname() not in words
    assert platform.node() not in words


def test_time_zone_and_locale_are_fixed(seen: dict[str, Any]) -> None:
    """Row 15: UTC and C.UTF-8 whatever the host has."""
    assert (seen["zone"], seen["offset"], seen["environment"]["LC_ALL"]) == (["UTC", "UTC"], 0, "C.UTF-8")


def test_hash_seed_is_fixed(seen: dict[str, Any]) -> None:
    """Row 15: string hashes are the same in every run."""
    assert seen["hash"] == said(attack_with("print(hash('seed'))"))


def test_user_is_a_number_with_a_home_of_its_own(seen: dict[str, Any]) -> None:
    """Row 2, 15: not the caller's user, group or home."""
    assert "uid=10001" in seen["user"]
    assert "groups=10001" in seen["user"]
    assert (seen["home"], seen["cwd"]) == ("/tmp", "/workspace")
    assert str(Path.home()) not in json.dumps(seen["environment"]) or Path.home() == Path("/tmp")
    assert getpass.getuser() not in seen["environment"].values()


def test_no_host_resolver_or_machine_id(seen: dict[str, Any]) -> None:
    """Row 15: which resolver, search domain and machine this is, is not told."""
    assert seen["texts"]["/etc/resolv.conf"] == ""
    assert seen["texts"]["/etc/machine-id"] in ("", "FileNotFoundError")


def test_clock_cannot_be_set() -> None:
    """Row 15: neither by date(1) nor by any call; time itself is the host's."""
    seen, = attack({}, "date -s 2001-01-01; exit $?")
    assert (seen.status.returncode, b"cannot set date" in seen.stderr.kept) == (1, True)


def everything_the_engine_tells(mark: str) -> str:
    """All inspect documents of a session's containers and volumes, and what ps would show of the host."""
    label = {"label": f"io.sandbox-runner.session={mark}"}
    found = [engine().inspect_container(entry["Id"]) for entry in engine().containers(all=True, filters=label)]
    found += engine().volumes(filters=label).get("Volumes") or []
    return json.dumps(found)


def readable_of_processes(names: tuple[str, ...]) -> bytes:
    """What these files of /proc/*/ hold for all processes of the host."""
    texts = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        for name in names:
            try:
                texts.append(Path(f"/proc/{number}/{name}").read_bytes())
            except OSError:
                continue  # gone meanwhile, or a kernel thread
    return b"".join(texts)


def test_value_of_a_given_variable_is_in_no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 14: not in docker inspect, on no command line; inside, only the workload has it, not PID 1."""
    secret = secrets.token_hex(16)
    program: Files = {"attack.py": """
import json, os
def text(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
print(json.dumps([os.environ["SECRET"], text("/proc/1/environ"), text("/proc/1/cmdline"), text("/proc/self/cmdline")]))
"""}
    with opened(program, ("python3", "attack.py"), env={"SECRET": secret}) as (session, plan, _, mark):
        run = session.prepare(1)
        assert secret not in everything_the_engine_tells(mark)
        execution = run.execute()
        assert secret not in everything_the_engine_tells(mark)
        assert secret.encode() not in readable_of_processes(("cmdline",))
        assert secret not in repr(plan)
        run.discard()
    value, *elsewhere = json.loads(execution.stdout.kept)
    assert value == secret
    assert (elsewhere[0] == "PermissionError") is here(True)
    assert secret not in "".join(elsewhere)


def test_given_variable_cannot_steer_the_init() -> None:
    """Row 14: loader variables, names with strange characters and a new PATH reach the workload, not PID 1."""
    given = {"LD_PRELOAD": "/workspace/evil.so", "GLIBC_TUNABLES": "glibc.malloc.check=3", "LD_DEBUG": "all",
             "PATH": "/workspace:/usr/bin:/bin", "TZ": "Asia/Tokyo", "ODD NAME": "with\nnewline", "EMPTY": ""}
    seen, = attack({"tool": "#!/bin/sh\nprintf '%s|%s' \"$TZ\" \"$EMPTY\"\nexit 17\n", "evil.so": b"\x7fELF"},
                   ("tool",), env=given)
    assert (seen.status.cause, seen.status.returncode, seen.stdout.kept) == ("exited", 17, b"Asia/Tokyo|")


def test_arguments_with_any_bytes_arrive_as_they_are() -> None:
    """Row 9: newlines, quotes, dollars, escapes and emptiness in an argv are never looked at by a shell."""
    nasty = ("", "a b", "$(id)", "`id`", "'\"", "new\nline", "\x1b[2J", "-x", "--", "ünï", "; exit 3")
    seen, = attack({}, ("python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *nasty))
    assert said(seen) == list(nasty)
