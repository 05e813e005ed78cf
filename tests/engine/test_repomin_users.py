"""What ReproMin's users do today, done with ``runner replay``: same reports, same exit codes, same fields.

Without ``--backend`` a replay is in Docker; ``--backend recorded`` goes where the report was made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from busybox_image import NAME as BUSYBOX
from busybox_image import busybox_image
from cli import Ran, runner
from replays import replay_json
from repomin_samples import Report, Sample, copy_sample, restore_metadata

pytestmark = pytest.mark.engine

WHERE = pytest.mark.parametrize("where", [(), ("--backend", "recorded")], ids=["docker", "host"])
MADE_UP_IMAGE = "sha256:4e9e5657b8efcd7abd1a9cb96df900e0bacf4697a1685e27987c77abf098db05"
STRICT = ("--env", "REPRO_MODE=strict", "--env", "REPRO_LEVEL=3")

REPLAY_FIELDS = {
    "schema_version": int, "valid_report": bool, "reproduced": bool, "report": str, "payload": str,
    "report_schema_version": int, "holdout_status": str, "backend": str, "recorded_backend": str,
    "oracle_mode": str, "oracle_source": str, "timeout_seconds": float, "timeout_source": str, "runs": int,
    "passes": int, "failures": int, "fresh_repository_copy_per_run": bool, "cache_used": bool,
    "ambient_environment_pinned": bool, "environment_names": list, "expected_fingerprint": str,
    "actual_fingerprint": str, "expected_content_fingerprint": type(None),
    "actual_content_fingerprint": type(None), "fingerprint_mode": str, "metadata_drift_possible": bool,
    "fingerprint_verified": bool, "samples": list, "docker_image": str, "docker_image_id": str,
    "docker_network": str, "recorded_docker_image_id": str, "recorded_docker_network": str}
SAMPLE_FIELDS = {
    "index": int, "outcome": str, "accepted": bool, "mismatch_reason": type(None), "returncode": int,
    "duration_seconds": float, "timed_out": bool, "resource_exhausted": bool, "output_sha256": str}


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Sample]:
    return lambda letter: copy_sample(letter, tmp_path)


@pytest.fixture(scope="module")
def busybox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with busybox_image(tmp_path_factory.mktemp("busybox")) as image:
        yield image


@pytest.fixture
def replay(tmp_path: Path) -> Callable[..., Ran]:
    def run(sample: Sample, *options: str) -> Ran:
        return replay_json(sample.report, sample.payload, *options, cwd=tmp_path)

    return run


def check_refused(answer: Ran, code: str, cwd: Path) -> None:
    """Exit code 2, JSON that says why, and not a trace of a run."""
    assert answer.code == 2, answer
    assert answer.json["reproduced"] is False
    assert answer.json["code"] == code, answer
    assert answer.json["error"]
    assert not (cwd / ".runner").exists()


def has(document: dict[str, Any], **wanted: Any) -> bool:
    """Whether the document says all that; pytest shows what it says instead."""
    assert {name: document[name] for name in wanted} == wanted
    return True


# Sample a: modern, host, a pattern and an exit code.

@WHERE
def test_a_reproduces_in_two_fresh_runs(where: tuple[str, ...], sample: Any, replay: Any) -> None:
    answer = replay(sample("a"), "--runs", "2", *where)
    assert answer.code == 0, answer
    assert has(answer.json, oracle_mode="match_and_exit_code", oracle_source="recorded", timeout_seconds=20.0,
               timeout_source="report", runs=2, passes=2, failures=0, fingerprint_mode="exact", reproduced=True,
               fingerprint_verified=True, metadata_drift_possible=False, recorded_backend="host",
               backend="host" if where else "docker")
    assert [run["returncode"] for run in answer.json["samples"]] == [7, 7]


@WHERE
def test_a_without_yes_runs_nothing(where: tuple[str, ...], sample: Any, tmp_path: Path) -> None:
    made = sample("a")
    check_refused(runner("replay", made.report, "--payload", made.payload, "--json", *where, cwd=tmp_path),
                  "usage", tmp_path)


@WHERE
@pytest.mark.parametrize(("options", "code"), [(("--exit-code", "7"), "usage"), (("--env", "X=1"), "environment")])
def test_a_refuses_options_that_its_report_has_no_room_for(where: tuple[str, ...], options: tuple[str, ...],
                                                           code: str, sample: Any, replay: Any,
                                                           tmp_path: Path) -> None:
    check_refused(replay(sample("a"), *options, *where), code, tmp_path)


@WHERE
def test_a_with_one_changed_byte_is_another_payload(where: tuple[str, ...], sample: Any, replay: Any,
                                                    tmp_path: Path) -> None:
    made = sample("a")
    amounts = made.payload / "data" / "amounts.txt"
    amounts.write_bytes(amounts.read_bytes().replace(b"21", b"22", 1))
    restore_metadata(made.payload)
    check_refused(replay(made, *where), "payload_mismatch", tmp_path)


@WHERE
def test_a_that_claims_another_exit_code_is_not_reproduced(where: tuple[str, ...], sample: Any, replay: Any) -> None:
    made = sample("a")
    made.edit(lambda report: report["failure_spec"].update(exit_code=8))
    answer = replay(made, *where)
    assert answer.code == 1, answer
    assert has(answer.json["samples"][0], mismatch_reason="exit_code", expected_exit_code=8, actual_exit_code=7,
               outcome="failed", accepted=False)


@pytest.mark.parametrize("edit", [lambda report: report.update(failure_match="another"),
                                  lambda report: report["failure_spec"].update(match="another")])
def test_a_with_two_patterns_is_no_report(edit: Callable[[Report], None], sample: Any, replay: Any,
                                          tmp_path: Path) -> None:
    made = sample("a")
    made.edit(edit)
    check_refused(replay(made), "report", tmp_path)


@WHERE
def test_a_with_another_full_digest_is_proved_by_content(where: tuple[str, ...], sample: Any, replay: Any) -> None:
    made = sample("a")
    made.edit(lambda report: report["output"].update(tree_sha256="0" * 64))
    document = replay(made, *where).json
    assert has(document, exit_code=0, fingerprint_mode="content", metadata_drift_possible=True,
               fingerprint_verified=True, expected_fingerprint="0" * 64)
    assert document["actual_fingerprint"].startswith("af914c14")
    assert document["expected_content_fingerprint"] == document["actual_content_fingerprint"]
    assert document["actual_content_fingerprint"].startswith("f381a68d")


@WHERE
def test_a_with_the_full_digest_only_takes_no_touched_file(where: tuple[str, ...], sample: Any, replay: Any,
                                                           tmp_path: Path) -> None:
    made = sample("a")
    made.edit(lambda report: [report["output"].pop(key) for key in
                              ("tree_content_sha256", "tree_content_fingerprint_policy")])
    os.utime(made.payload / "reproduce.sh")
    check_refused(replay(made, *where), "payload_mismatch", tmp_path)


@pytest.mark.parametrize("letter", ["a", "b"])
def test_lost_metadata_is_told_and_still_replays(letter: str, sample: Any, replay: Any) -> None:
    made = sample(letter)
    for path in (made.payload, *made.payload.rglob("*")):
        os.utime(path, follow_symlinks=False)
    answer = replay(made)
    assert answer.code == 0, answer
    assert has(answer.json, fingerprint_mode="content", metadata_drift_possible=True)


# Sample b: modern, host, a rooted Python signature.

@WHERE
def test_b_shows_its_exception(where: tuple[str, ...], sample: Any, replay: Any) -> None:
    answer = replay(sample("b"), *where)
    assert answer.code == 0, answer
    assert has(answer.json, oracle_mode="python_exception", fingerprint_mode="exact")


@WHERE
def test_b_with_another_frame_is_another_exception(where: tuple[str, ...], sample: Any, replay: Any) -> None:
    made = sample("b")
    made.edit(lambda report: report["python_exception_signature"]["frames"].__setitem__(1, "reproduce.py:start"))
    answer = replay(made, *where)
    assert answer.code == 1, answer
    assert has(answer.json["samples"][0], mismatch_reason="signature", expected_exit_code=None, actual_exit_code=1)


def test_b_with_an_unknown_policy_is_no_report(sample: Any, replay: Any, tmp_path: Path) -> None:
    made = sample("b")
    made.edit(lambda report: report["python_exception_signature"].update(normalization_policy="mine-v1"))
    check_refused(replay(made), "report", tmp_path)


@pytest.mark.parametrize(("where", "code"), [(("--backend", "recorded"), 1), ((), 0)], ids=["host", "docker"])
def test_b_by_the_legacy_rule_has_other_frames_on_a_host(where: tuple[str, ...], code: int, sample: Any,
                                                         replay: Any) -> None:
    """The legacy rule keeps what follows ``/workspace/``, and that is where a container has its tree."""
    made = sample("b")
    made.edit(lambda report: report["python_exception_signature"].pop("normalization_policy"))
    answer = replay(made, *where)
    assert answer.code == code, answer
    assert answer.json["samples"][0]["mismatch_reason"] == ("signature" if code else None)


# Sample c: minimal legacy.

@WHERE
@pytest.mark.parametrize(("options", "code", "mode", "reason"), [
    ((), 0, "match_or_exit", None), (("--exit-code", "3"), 0, "match_and_exit_code", None),
    (("--exit-code", "4"), 1, "match_and_exit_code", "exit_code")])
def test_c_infers_its_contract(where: tuple[str, ...], options: tuple[str, ...], code: int, mode: str,
                               reason: str | None, sample: Any, replay: Any) -> None:
    answer = replay(sample("c"), *options, *where)
    assert answer.code == code, answer
    assert has(answer.json, oracle_source="legacy_inferred", oracle_mode=mode, timeout_source="default",
               timeout_seconds=120.0, fingerprint_mode="unavailable", fingerprint_verified=False,
               expected_fingerprint=None, metadata_drift_possible=False)
    assert answer.json["samples"][0]["mismatch_reason"] == reason


def test_c_runs_on_a_host_under_its_payloads_name(sample: Any, replay: Any, tmp_path: Path) -> None:
    made = sample("c")
    made.edit(lambda report: report.update(command='sh reproduce.sh; code=$?; basename "$PWD"; exit $code'))
    assert replay(made, "--backend", "host", "--out", "seen").code == 0
    assert (tmp_path / "seen" / "stdout-1.bin").read_text().splitlines()[-1] == "config-repro"


def test_c_without_a_pattern_is_ambiguous(sample: Any, replay: Any, tmp_path: Path) -> None:
    made = sample("c")
    made.edit(lambda report: report.update(failure_match=None))
    check_refused(replay(made), "report", tmp_path)
    answer = replay(made, "--exit-code", "3")
    assert answer.code == 0, answer
    assert answer.json["oracle_mode"] == "exit_code"


def test_c_with_a_file_more_is_another_payload(sample: Any, replay: Any, tmp_path: Path) -> None:
    made = sample("c")
    (made.payload / "more.txt").touch()
    check_refused(replay(made), "payload_mismatch", tmp_path)


# Sample d: modern, Docker, an environment.

@pytest.mark.parametrize(("options", "code"), [
    ((), "environment"), (("--env", "REPRO_MODE=strict", "--env", "REPRO_LEVEL=4"), "environment"),
    (STRICT, "image"), ((*STRICT, "--backend", "host", "--docker-image", "x"), "usage"),
    ((*STRICT, "--backend", "host", "--docker-network", "none"), "usage")])
def test_d_is_refused_until_everything_is_there(options: tuple[str, ...], code: str, sample: Any, replay: Any,
                                                tmp_path: Path) -> None:
    answer = replay(sample("d"), *options)
    check_refused(answer, code, tmp_path)
    assert "strict" not in answer.out + answer.err


def test_d_replays_in_a_local_image_by_name(busybox: str, sample: Any, replay: Any, tmp_path: Path) -> None:
    answer = replay(sample("d"), *STRICT, "--docker-image", BUSYBOX, "--out", "seen")
    assert answer.code == 0, answer
    assert has(answer.json, docker_image_id=busybox, recorded_docker_image_id=MADE_UP_IMAGE,
               docker_network="none", recorded_docker_network="none", backend="docker", recorded_backend="docker",
               fingerprint_mode="exact", environment_names=["REPRO_LEVEL", "REPRO_MODE"])
    assert (tmp_path / "seen" / "stderr-1.bin").read_bytes() == b"FLAG_CRASH in workspace\n"


def test_d_on_a_host_has_its_recorded_name_and_nothing_of_docker(sample: Any, replay: Any, tmp_path: Path) -> None:
    answer = replay(sample("d"), *STRICT, "--backend", "host", "--out", "seen")
    assert answer.code == 0, answer
    assert has(answer.json, backend="host", recorded_backend="docker", docker_image=None, docker_image_id=None,
               docker_network=None)
    assert (tmp_path / "seen" / "stderr-1.bin").read_bytes() == b"FLAG_CRASH in workspace\n"


# All of them.

def test_every_field_of_repomins_answer_is_there(busybox: str, sample: Any, replay: Any) -> None:
    made = sample("d")
    document = replay(made, *STRICT, "--docker-image", BUSYBOX).json
    assert {name: type(document.get(name, ...)) for name in REPLAY_FIELDS} == REPLAY_FIELDS
    first = document["samples"][0]
    assert {name: type(first.get(name, ...)) for name in SAMPLE_FIELDS} == SAMPLE_FIELDS
    assert has(document, schema_version=1, valid_report=True, report=str(made.report), payload=str(made.payload),
               report_schema_version=1, holdout_status="not_requested", fresh_repository_copy_per_run=True,
               cache_used=False, docker_image=BUSYBOX)
    assert document["actual_fingerprint"] == document["expected_fingerprint"]
    assert has(first, index=1, outcome="passed", accepted=True, returncode=9, timed_out=False,
               resource_exhausted=False)


@WHERE
@pytest.mark.parametrize("form", [("--json",), ()], ids=["json", "text"])
def test_output_and_pattern_are_never_shown(form: tuple[str, ...], where: tuple[str, ...], sample: Any,
                                            tmp_path: Path) -> None:
    made = sample("a")
    made.edit(lambda report: report["failure_spec"].update(exit_code=8))
    answer = runner("replay", made.report, "--payload", made.payload, "--yes", *form, *where, cwd=tmp_path)
    assert answer.code == 1, answer
    for hidden in ("LEDGER_MISMATCH", "rows read", "wanted 42"):
        assert hidden not in answer.out + answer.err
