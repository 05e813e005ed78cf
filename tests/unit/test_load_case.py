"""The door: which files become cases, which cases, and that everything else is one line and exit 2."""

from __future__ import annotations

import json
import os
import socket
from hashlib import sha256
from pathlib import Path

import pytest
from repomin_reports import DROP, edited, sample, sample_path

from runner.case import RecordedEnvironment, RequestedLimits
from runner.errors import ReportError, RunnerError, UsageError
from runner.oracles.contract import Contract, PythonSignature
from runner.sandbox.image import ImagePin
from runner.sources.load import load_case, parse_case
from runner.sources.reading import MAX_REPORT_BYTES

NATIVE = Path(__file__).parents[1] / "data" / "native"
IMAGE_ID = "sha256:4e9e5657b8efcd7abd1a9cb96df900e0bacf4697a1685e27987c77abf098db05"
JAVA = {"class": "a.B", "message": "", "frames": ["a.B.c"]}
SEGV = {"kind": "posix_signal", "code": 11}


def case_of(letter: str, exit_code: int | None = None, **changes: object):
    return parse_case(json.dumps(edited(sample(letter), **changes)).encode(), path="report.json", exit_code=exit_code)


def refusal(raw: bytes) -> str:
    with pytest.raises(ReportError) as caught:
        parse_case(raw, path="report.json")
    assert caught.value.message.isprintable()
    assert caught.value.exit_code == 2
    return caught.value.message


# Samples of ReproMin

def test_sample_a_becomes_the_case_it_describes() -> None:
    path = sample_path("a")
    case = load_case(path)
    assert (case.source, case.path, case.schema_version) == ("repomin", str(path), "1")
    assert case.sha256 == sha256(path.read_bytes()).hexdigest()
    assert (case.workload.shell, case.workload.argv, case.workload.cwd) == ("sh reproduce.sh", (), ".")
    assert case.contract == Contract(7, "LEDGER_MISMATCH: wanted 42 but summed \\d+", None)
    assert (case.contract_source, case.contract.mode) == ("recorded", "match_and_exit_code")
    assert (case.payload.files, case.payload.bytes, case.payload.scheme) == (2, 256, "tree-sha256")
    assert case.payload.exact == "af914c1448d33d16c6f05cfde10ce67dae2765682374f8ac48807d0fe489cb5b"
    assert case.payload.content == "f381a68d258fc791cd8b57962ca79f57f3ed36a324b9c1372b555c2bbefe0c1f"
    assert (case.execution.backend, case.execution.timeout_seconds) == ("host", 20.0)
    assert (case.working_copy, case.holdout_status, case.fixed_env) == (
        "ledger-repro", "not_requested", (("REPOMIN", "1"),))


def test_sample_b_has_a_rooted_python_signature() -> None:
    case = load_case(sample_path("b"))
    assert isinstance(case.contract.signature, PythonSignature)
    assert case.contract.signature.rooted
    assert case.contract.mode == "python_exception"


def test_sample_c_is_legacy() -> None:
    case = load_case(sample_path("c"))
    assert (case.contract_source, case.contract.mode) == ("legacy_inferred", "match_or_exit")
    assert case.contract == Contract(None, "CONFIG_MISSING", None)
    assert (case.payload.exact, case.payload.content, case.execution.timeout_seconds) == (None, None, None)
    assert (case.working_copy, case.working_copy_problem) == (None, "")
    assert case.environment == RecordedEnvironment()


def test_sample_d_pins_an_image_and_asks_for_limits() -> None:
    execution = load_case(sample_path("d")).execution
    assert execution.image == ImagePin(IMAGE_ID, "busybox:1.36")
    assert (execution.network, execution.image_problem) == ("none", "")
    assert execution.limits == RequestedLimits(268435456, 512, 1.0, 67108864, 10485760)
    assert load_case(sample_path("d")).environment.names == ("REPRO_LEVEL", "REPRO_MODE")
    assert load_case(sample_path("d")).working_copy == "workspace"


def test_the_holdout_fingerprint_stands_in_for_a_missing_tree_digest() -> None:
    digest = "ab" * 32
    gone = {"output__tree_sha256": None, "output__tree_fingerprint_policy": None}
    assert case_of("a", **gone, holdout_certification__artifact_fingerprint=digest).payload.exact == digest
    assert case_of("a", **gone).payload.exact is None


def test_names_are_sorted_whatever_the_report_did() -> None:
    assert case_of("c", execution__environment_names=["B", "A"]).environment.names == ("A", "B")


# Contract reconstruction and --exit-code

def test_exit_code_completes_a_legacy_contract() -> None:
    assert case_of("c", 3).contract.mode == "match_and_exit_code"
    assert case_of("c", 3, failure_match=None).contract == Contract(3, None, None)
    assert case_of("c", 3, failure_match=None).contract.mode == "exit_code"
    assert case_of("c", 3, java_exception_signature=JAVA).contract.exit_code == 3


@pytest.mark.parametrize("empty", [None, DROP, ""])
def test_an_ambiguous_legacy_contract_is_refused(empty: object) -> None:
    with pytest.raises(ReportError, match="any failure would count"):
        case_of("c", failure_match=empty)
    assert case_of("c", failure_match=empty, java_exception_signature=JAVA).contract.mode == "java_exception"


@pytest.mark.parametrize(("letter", "changes"), [("a", {}), ("b", {}), ("c", {"process_failure_signature": SEGV})])
def test_exit_code_is_refused_where_the_report_says_it_all(letter: str, changes: dict[str, object]) -> None:
    assert case_of(letter, **changes).contract is not None
    with pytest.raises(UsageError, match="--exit-code"):
        case_of(letter, 7, **changes)


def test_exit_code_is_refused_for_a_native_report() -> None:
    raw = (NATIVE / "docker-shell.json").read_bytes()
    with pytest.raises(UsageError, match="--exit-code"):
        parse_case(raw, path="bug.json", exit_code=7)


@pytest.mark.parametrize(("field", "letter", "changes"), [
    ("output.files", "c", {"output__files": 2**63}), ("output.bytes", "c", {"output__bytes": 10**4000}),
    ("the exit code", "a", {"failure_spec__exit_code": -10**4000}),
])
def test_a_number_beyond_64_bits_is_refused_where_it_is_used(field: str, letter: str,
                                                             changes: dict[str, object]) -> None:
    with pytest.raises(ReportError, match=rf"^report\.json: {field}: is "):
        case_of(letter, **changes)


def test_a_limit_beyond_64_bits_asks_for_nothing_less() -> None:
    limits = case_of("d", execution__limits={"memory_bytes": 10**4000, "pids": 2**63}).execution.limits
    assert limits == RequestedLimits(memory=2**63 - 1, pids=2**63 - 1)


# What only some replays need

@pytest.mark.parametrize("bad", [None, "", "sha256:x", IMAGE_ID.upper(), 7, [], DROP])
def test_a_report_without_a_usable_image_id_says_so(bad: object) -> None:
    execution = case_of("d", execution__image_id=bad).execution
    assert execution.image is None
    assert execution.image_problem.startswith("execution.image_id: is ")


@pytest.mark.parametrize("bad", [None, "", ".", "..", "a/b", "/", "a\0", "x" * 256, "\ud800", 7, ["a"]])
def test_a_directory_name_that_is_no_segment_is_never_used(bad: object) -> None:
    case = case_of("d", execution__working_directory_basename=bad)
    assert case.working_copy is None
    assert case.working_copy_problem.startswith("execution.working_directory_basename: is ")
    assert case.working_copy_problem.isprintable()


@pytest.mark.parametrize("odd", ["...", "a b", "-x", "é", "a\\b", ".git"])
def test_an_odd_directory_name_is_still_a_segment(odd: str) -> None:
    assert case_of("d", execution__working_directory_basename=odd).working_copy == odd


@pytest.mark.parametrize(("network", "kept"), [("host", "host"), (7, None), ("\ud800", None), (DROP, None)])
def test_the_recorded_network_is_only_remembered(network: object, kept: str | None) -> None:
    assert case_of("d", execution__network=network).execution.network == kept


@pytest.mark.parametrize(("field", "changes"), [
    ("failure_match", {"failure_match": "x\ud800"}),
    ("java_exception_signature", {"java_exception_signature": JAVA | {"class": "\udc80"}}),
    ("java_exception_signature", {"java_exception_signature": JAVA | {"frames": ["a", "\udc80"]}}),
    ("python_exception_signature", {"python_exception_signature": JAVA | {"message": "\ud800"}}),
    ("process_failure_signature", {"process_failure_signature": SEGV | {"name": "\ud800"}}),
])
def test_a_contract_that_no_output_could_meet_is_refused(field: str, changes: dict[str, object]) -> None:
    with pytest.raises(ReportError, match=rf"^report\.json: {field}: has a lone surrogate"):
        case_of("c", **changes)


@pytest.mark.parametrize("command", ["x\ud800", "x" * 131_001])
def test_a_command_that_cannot_be_started_is_refused(command: str) -> None:
    with pytest.raises(ReportError, match=r"^report\.json: command: "):
        case_of("c", command=command)


# Hostile bytes

@pytest.mark.parametrize(("raw", "said"), [
    (b"", "is not JSON"), (b"null", "holds null"), (b"[]", "holds an array"), (b"7", "holds 7"),
    (b'"text"', "holds"), (b"{}", "no report of a known format"), (b"{", "is not JSON"), (b"\0", "is not JSON"),
    (b"\xef\xbb\xbf{}", "byte order mark"), ('{"é": 1}'.encode("latin-1"), "is not UTF-8"),
    ("{}".encode("utf-16"), "is not UTF-8"), (b'{"a": "\xed\xa0\x80"}', "is not UTF-8"),
    (b"[" * 100_000, "nested deeper"), (b'{"a":' * 100_000, "nested deeper"),
    (b"[" * 100_000 + b"]" * 100_000, "nested deeper"), (b'{"schema_version": ' + b"[" * 200, "nested deeper"),
    (b'{"a": ' + b"9" * 100_000 + b"}", "digits"), (b'{"a": -' + b"9" * 4301 + b"}", "digits"),
    (b'{"a": [' + b"{}," * 200_000 + b"{}]}", "more than 200000 objects"),
    (b"PK\x03\x04rest", "is an archive"), (b"\x1f\x8b", "is an archive"),
    (b'{"a": "\n"}', "is not JSON"), (b"{'a': 1}", "is not JSON"), (b'{"a": 1}{"a": 1}', "is not JSON"),
    (b'{"replay_trace": [], "target_url": "", "persona": null}', "LOKI"),
    (b'{"schema": "runner.report/9"}', 'expected "runner.report/1"'),
    (b'{"schema_version": 1, "execution": {}}', "command: is missing"),
])
def test_what_is_no_report_is_refused_in_one_line(raw: bytes, said: str) -> None:
    assert said in refusal(raw)


def test_a_string_full_of_brackets_is_not_deep() -> None:
    assert case_of("c", unknown="[" * 1_000 + '\\"{' * 1_000).source == "repomin"


def test_an_unterminated_string_of_escapes_is_scanned_once() -> None:
    assert "is not JSON" in refusal(b'{"a": "' + b'\\"' * 1_000_000)


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"NaN", b"Infinity", b"1" + b"0" * 400])
def test_a_number_beyond_a_double_is_refused_where_it_counts_and_tolerated_elsewhere(number: bytes) -> None:
    raw = sample_path("c").read_bytes()
    bad = raw.replace(b'"jobs": 1', b'"jobs": 1, "timeout_seconds": ' + number)
    assert "execution.timeout_seconds: is " in refusal(bad)
    assert parse_case(raw.replace(b'"jobs": 1', b'"jobs": 1, "x": ' + number), path="r").source == "repomin"


def test_of_a_repeated_key_the_last_wins_in_repomin_and_none_in_a_native_report() -> None:
    raw = sample_path("c").read_bytes().replace(b'"jobs": 1', b'"jobs": 0, "jobs": 1')
    assert parse_case(raw, path="r").source == "repomin"
    native = (NATIVE / "docker-shell.json").read_bytes().replace(b'"exit_code": 7,', b'"exit_code": 0, "exit_code": 7,')
    assert 'has the key "exit_code" twice' in refusal(native)


def test_a_native_report_with_very_many_keys_is_refused_before_they_are_looked_at() -> None:
    native = json.loads((NATIVE / "docker-shell.json").read_bytes())
    assert "keys, expected at most" in refusal(json.dumps(native | {f"k{n}": n for n in range(100_000)}).encode())


def test_a_lone_surrogate_never_gets_into_a_native_case() -> None:
    text = (NATIVE / "docker-shell.json").read_text()
    for value in ("sh reproduce.sh", "LEDGER_MISMATCH", "runner/command", "sandbox-runner", "linux/amd64", "3.11.2"):
        assert "unicode string" in refusal(text.replace(f'"{value}"', f'"{value}\\ud800"').encode())


# Files

def test_a_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_bytes(sample_path("c").read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_case("~/report.json").path == "~/report.json"


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(sample_path("c"))
    os.mkfifo(tmp_path / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    listener.close()
    (tmp_path / "loop").symlink_to("loop")
    for path, said in ((tmp_path, "is a directory"), (tmp_path / "link", "is a symbolic link"),
                       (tmp_path / "loop", "is a symbolic link"), (tmp_path / "loop" / "x", "symbolic link"),
                       (tmp_path / "fifo", "is a fifo"), (tmp_path / "socket", "is a socket"),
                       (Path("/dev/zero"), "is a device"), (tmp_path / "none", "No such file"),
                       (tmp_path / ("x" * 300), "too long")):
        with pytest.raises(ReportError, match=said):
            load_case(path)


@pytest.mark.parametrize("path", ["a\0b", "", "x\ud800", "none\n\x1b[2J"])
def test_a_strange_path_is_one_printable_line(path: str) -> None:
    with pytest.raises(RunnerError) as caught:
        load_case(path)
    assert caught.value.message.isprintable()


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(MAX_REPORT_BYTES + 1)
    with pytest.raises(ReportError, match="larger than 8 MiB"):
        load_case(big)
    big.write_bytes(b" " * MAX_REPORT_BYTES)
    with pytest.raises(ReportError, match="is not JSON"):
        load_case(big)
