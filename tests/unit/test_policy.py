"""What a policy says, and that a second one can only tighten it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from runner.errors import PolicyError
from runner.resources import data_dir
from runner.sandbox.policy import Policy, load_policy, policy_names, tighten, with_runtime
from runner.sandbox.policy_model import size_fields
from runner.sandbox.seccomp import profile_sha256
from runner.sandbox.sizes import format_size, parse_size

MIB = 1 << 20
DEFAULT = load_policy("default")
Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str) -> str:
        path = tmp_path / "own.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)
    return to_file


def complete(**changes: object) -> str:
    return yaml.safe_dump({**DEFAULT.document(), "name": "own", **changes})


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(PolicyError) as caught:
        action()
    assert "\n" not in caught.value.message
    return caught.value.message


def test_the_built_in_policies_are_what_the_documentation_says() -> None:
    assert policy_names() == ("browser", "default", "load", "strict")
    assert (DEFAULT.memory, DEFAULT.pids, DEFAULT.cpus, DEFAULT.nofile) == (1024 * MIB, 512, 1.0, 1024)
    assert (DEFAULT.work.size, DEFAULT.work.inodes, DEFAULT.tmp.size) == (512 * MIB, 65536, 128 * MIB)
    assert (DEFAULT.output.stdout, DEFAULT.output.keep, DEFAULT.timeout) == (64 * MIB, 16 * MIB, 300)
    assert (DEFAULT.user, DEFAULT.runs_per_steward, DEFAULT.runtime_preferred) == ("10001:10001", 32, None)
    strict = load_policy("strict")
    assert (strict.runtime_preferred, strict.runs_per_steward, strict.payload.portable_names) == ("runsc", 1, True)
    browser = load_policy("browser")
    assert (browser.seccomp, browser.shm, browser.timeout, browser.cpus) == ("browser", 128 * MIB, 3600, 2.0)
    assert (browser.memory, browser.pids, browser.nofile) == (2048 * MIB, 1024, 4096)
    assert (browser.work.size, browser.tmp.size, browser.output.artifacts) == (512 * MIB, 256 * MIB, 96 * MIB)


def test_strict_is_nowhere_wider_than_default() -> None:
    assert tighten(DEFAULT, load_policy("strict").document()) == load_policy("strict")


@pytest.mark.parametrize("name", ["browser", "default", "strict"])
def test_a_policy_shown_is_a_policy_that_can_be_loaded(name: str, write: Write) -> None:
    policy = load_policy(name)
    copy = load_policy(write(yaml.safe_dump({**policy.document(), "name": "own"})))
    assert copy == policy.model_copy(update={"name": "own"})


def test_the_digest_is_recomputable_and_depends_on_every_field_and_the_profile() -> None:
    fields = {**DEFAULT.model_dump(mode="json"), "seccomp_sha256": profile_sha256("workload")}
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    assert DEFAULT.digest() == hashlib.sha256(canonical).hexdigest()
    assert tighten(DEFAULT, {"env": {"X": "1"}}).digest() != DEFAULT.digest()
    raw = (data_dir("policies") / "seccomp" / "workload.json").read_bytes()
    assert fields["seccomp_sha256"] == hashlib.sha256(raw).hexdigest()


def test_which_fields_are_sizes() -> None:
    assert size_fields() == {"memory", "file_size", "shm", "work.size", "tmp.size", "payload.bytes", "output.stdout",
                             "output.stderr", "output.keep", "output.artifacts"}


@pytest.mark.parametrize(("text", "size"), [
    ("512MiB", 512 * MIB), ("1GiB", 1 << 30), ("64KiB", 65536), ("2TiB", 2 << 40), ("7B", 7), ("7", 7), (7, 7), (0, 0)])
def test_sizes(text: object, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize("text", ["", "1 GiB", "1GB", "1g", "-1", "1.5GiB", "MiB", "1e3", "9" * 17, "1025TiB", "٣", -1,
                                  True, None, 1.0, [], "1MiB\n"])
def test_not_sizes(text: object) -> None:
    with pytest.raises(ValueError, match="must be a size"):
        parse_size(text)


@pytest.mark.parametrize("changes", [
    {"memory": "640MiB"}, {"memory": "1MiB"}, {"payload": {**DEFAULT.document()["payload"], "bytes": "513MiB"}},
    {"payload": {**DEFAULT.document()["payload"], "files": 65536}},
    {"user": "0:0"}, {"user": "10001:0"}, {"user": "65534:65534"}, {"user": "root"}, {"user": "10001"},
    {"user": 10001}, {"network": "bridge"}, {"network": "host"}, {"read_only_root": False}, {"read_only_root": 1},
    {"pids": 0}, {"pids": "256"}, {"pids": True}, {"pids": 1.0}, {"cpus": 0}, {"cpus": "1"}, {"cpus": True},
    {"cpus": -1}, {"timeout": 0}, {"timeout": 10**9}, {"runs_per_steward": 0}, {"seccomp": "unconfined"},
    {"seccomp": "../workload"}, {"runtime": "a b"}, {"env": {"A=B": "x"}}, {"env": {"A": 1}}, {"env": []},
    {"accept_unenforced": ["seccomp"]}, {"accept_unenforced": "memory"}, {"work": {"size": "512MiB"}},
    {"work": {**DEFAULT.document()["work"], "medium": "disk"}}, {"privileged": True}, {"cap_add": ["ALL"]},
    {"devices": []}, {"name": "Own"}, {"name": "default"},
])
def test_what_no_policy_can_say(changes: dict[str, object], write: Write) -> None:
    assert refusal(lambda: load_policy(write(complete(**changes)))).startswith("policy ")


def test_a_policy_may_be_complete_and_wider(write: Write) -> None:
    own = load_policy(write(complete(memory="4GiB", accept_unenforced=["work", "swap"])))
    assert (own.memory, own.accept_unenforced) == (4096 * MIB, ("work", "swap"))


def test_a_missing_field_is_named(write: Write) -> None:
    fields = {key: value for key, value in DEFAULT.document().items() if key != "pids"}
    assert "pids" in refusal(lambda: load_policy(write(yaml.safe_dump({**fields, "name": "own"}))))


@pytest.mark.parametrize(("overlay", "field"), [
    ("memory: 2GiB", "memory"), ("pids: 513", "pids"), ("cpus: 1.5", "cpus"), ("nofile: 1025", "nofile"),
    ("file_size: 513MiB", "file_size"), ("shm: 65MiB", "shm"), ("work: {size: 513MiB}", "work.size"),
    ("work: {inodes: 65537}", "work.inodes"), ("tmp: {size: 129MiB}", "tmp.size"),
    ("output: {stdout: 65MiB}", "output.stdout"), ("output: {artifacts: 1GiB}", "output.artifacts"),
    ("payload: {files: 20001}", "payload.files"), ("payload: {depth: 65}", "payload.depth"),
    ("timeout: 301", "timeout"), ("runs_per_steward: 33", "runs_per_steward"), ('user: "10002:10002"', "user"),
    ("env: {TZ: Europe/Berlin}", "env.TZ"), ("accept_unenforced: [work]", "accept_unenforced"),
])
def test_an_overlay_cannot_widen(overlay: str, field: str, write: Write) -> None:
    path = write(f"name: own\nextends: default\n{overlay}\n")
    message = refusal(lambda: load_policy(path))
    assert f"{field} may only be tightened" in message
    assert path in message


def test_a_refusal_names_both_values(write: Write) -> None:
    message = refusal(lambda: load_policy(write("name: own\nextends: default\nmemory: 2GiB\n")))
    assert message.endswith("memory may only be tightened: policy default has 1GiB, this has 2GiB")


def test_portable_names_and_runtimes_cannot_be_taken_back() -> None:
    strict = load_policy("strict")
    for overlay in ({"payload": {"portable_names": False}}, {"runtime_preferred": "runc"}, {"runtime_preferred": None}):
        assert "may only be tightened" in refusal(lambda said=overlay: tighten(strict, said))
    assert tighten(DEFAULT, {"runtime": "runsc"}).runtime == "runsc"


def test_an_overlay_keeps_what_it_does_not_name(write: Write) -> None:
    own = load_policy(write("name: own\nextends: default\nwork: {size: 256MiB}\ntimeout: 10\nenv: {X: '1'}\n"))
    assert own == Policy.model_validate({
        **DEFAULT.model_dump(), "name": "own", "work": {"size": 256 * MIB, "inodes": 65536, "medium": "tmpfs"},
        "timeout": 10, "env": {**DEFAULT.env, "X": "1"}})


@pytest.mark.parametrize("text", [
    "name: own\nextends: nowhere\n", "name: own\nextends: ./other.yaml\n", "name: own\nextends: [default]\n",
    "extends: default\n", "name: own\nextends: default\nprivileged: true\n", "name: own\nextends: default\nwork: 5\n",
    "name: own\nextends: default\nwork: {disk: 5}\n", "name: own\nextends: default\nmemory: 600MiB\n"])
def test_what_no_overlay_can_say(text: str, write: Write) -> None:
    path = write(text)
    assert path in refusal(lambda: load_policy(path))


def test_a_preferred_runtime_is_used_where_it_is() -> None:
    strict = load_policy("strict")
    assert with_runtime(strict, ("runc", "runsc")).runtime == "runsc"
    assert with_runtime(strict, ("runc",)).runtime is None
    assert with_runtime(DEFAULT, ("runc", "runsc")).runtime is None
    assert with_runtime(tighten(strict, {"runtime": "kata"}), ("runsc",)).runtime == "kata"


def test_seccomp_can_go_without_only_where_a_runtime_is_named(write: Write) -> None:
    path = write(complete(accept_unenforced=["seccomp"]))
    assert "seccomp can go without only where `runtime` names one" in refusal(lambda: load_policy(path))
    assert load_policy(write(complete(accept_unenforced=["seccomp"], runtime="runsc"))).runtime == "runsc"
    path = write("name: own\nextends: strict\nruntime: runsc\naccept_unenforced: [seccomp]\n")
    assert "may only be tightened" in refusal(lambda: load_policy(path))


def test_unknown_names_and_files_are_one_line() -> None:
    assert "there is no policy lax" in refusal(lambda: load_policy("lax"))
    assert "No such file" in refusal(lambda: load_policy("./lax.yaml"))
    assert "\\n" in refusal(lambda: load_policy("./a\nb.yaml"))
