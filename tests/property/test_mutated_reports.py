"""Thousands of mutated reports at the door: a case, or one printable line and exit 2. Nothing else, ever."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from runner.case import Case
from runner.errors import ReportError, RunnerError, UsageError
from runner.sources.load import load_case, parse_case

DATA = Path(__file__).parents[1] / "data"
RAW = {path.parent.name + path.stem: path.read_bytes()
       for path in (*sorted(DATA.glob("native/*.json")), *sorted(DATA.glob("repomin/*/*.repomin/report.json")))}
PARSED = {name: json.loads(raw) for name, raw in RAW.items()}

# A profile's max_examples counts in hundreds: `ci` throws 3,200 reports, `long` twenty times as many.
STRUCTURAL = settings(max_examples=settings().max_examples * 20, suppress_health_check=list(HealthCheck))
BYTES = settings(max_examples=settings().max_examples * 12, suppress_health_check=list(HealthCheck))

HOSTILE = st.sampled_from([
    None, True, False, 0, -1, 1, 7, 2**63, 10**400, 10**4299, 0.0, -0.0, 1.5, 1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"), "", "\0", "x", "\ud800", "\udc80\udcff", "\x1b[2J\r\n", "\u202e",
    "../../etc/passwd", "/", "sha256:" + "0" * 64, "0" * 64, "REPOMIN", "docker", "host", "certified", "partial",
    "runner.report/1", "x" * 200_000, "(a+)+$", [], {}, [[]], [{}], [None] * 300, {"": {}}, {"__proto__": 1},
    {str(n): n for n in range(300)}, {"class": "A", "message": "", "frames": ["f"]},
    {"kind": "posix_signal", "code": 11}, {"schema_version": 1},
])
KEYS = st.sampled_from(sorted({key for report in PARSED.values() for key in (*report, *report.get("execution", ()))}
                              | {"java_exception_signature", "python_exception_signature", "\ud800", "", "a.b[0]\n",
                                 "process_failure_signature", "schema", "kind", "schema_version", "x" * 5_000}))
NAMES = st.sampled_from(sorted(RAW))
EXIT_CODES = st.sampled_from([None, None, None, 0, 3, -11, 2**40])


def containers(value: Any) -> list[Any]:
    """Every object and array in a document that is not empty."""
    found, queue = [], [value]
    while queue:
        place = queue.pop()
        children = list(place.values()) if isinstance(place, dict) else place if isinstance(place, list) else []
        found += [place] if children else []
        queue += children
    return found


def retyped(value: Any) -> Any:
    """The same thing, said in another type."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list):
        return dict(enumerate(map(str, value)))
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 2**53 else [value]
    return {bool: int, float: str, str: list}.get(type(value), str)(value)


@st.composite
def structurally_mutated(draw: st.DrawFn) -> bytes:
    """One to four of: drop, hostile value, retype, repeat, add a key, splice a part of another report."""
    report = copy.deepcopy(PARSED[draw(NAMES)])
    for _ in range(draw(st.integers(1, 4))):
        places = containers(report)
        if not places:
            break
        place = draw(st.sampled_from(places))
        key = draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        match draw(st.sampled_from(["drop", "hostile", "retype", "repeat", "add", "splice"])):
            case "drop":
                del place[key]
            case "hostile":
                place[key] = copy.deepcopy(draw(HOSTILE))
            case "retype":
                place[key] = retyped(place[key])
            case "repeat":
                place[key] = [copy.deepcopy(place[key])] * draw(st.integers(0, 4))
            case "add":
                extra = copy.deepcopy(draw(HOSTILE))
                place.append(extra) if isinstance(place, list) else place.__setitem__(draw(KEYS), extra)
            case _:
                place[key] = copy.deepcopy(draw(st.sampled_from(containers(PARSED[draw(NAMES)]))))
    return json.dumps(report, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


TOKENS = st.sampled_from([
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-", b"\0",
    b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"[" * 5_000, b'{"a":' * 5_000, b"9" * 5_000,
    b'"exit_code": 0,', b'"schema": "runner.report/1",', b'"schema_version": 1,', b'"\\"', b"1" * 40, b"// x\n",
])


@st.composite
def mutated_bytes(draw: st.DrawFn) -> bytes:
    """One to six of: overwrite, insert, delete, repeat a slice, cut, splice two reports, or any bytes at all."""
    raw = bytearray(RAW[draw(NAMES)])
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(raw)))
        end = draw(st.integers(start, min(len(raw), start + 64)))
        match draw(st.sampled_from(["overwrite", "insert", "delete", "repeat", "cut", "splice", "noise"])):
            case "overwrite":
                raw[start:end] = draw(TOKENS)
            case "insert":
                raw[start:start] = draw(TOKENS)
            case "delete":
                del raw[start:end]
            case "repeat":
                raw[start:start] = raw[start:end] * draw(st.integers(1, 20))
            case "cut":
                del raw[start:]
            case "splice":
                raw[start:] = RAW[draw(NAMES)][start:]
            case _:
                raw[start:end] = draw(st.binary(max_size=32))
    return bytes(raw)


def outcome(raw: bytes, exit_code: int | None) -> Case | RunnerError:
    """What the door says. Anything but a Case or a RunnerError propagates and fails the test."""
    try:
        return parse_case(raw, path="report.json", exit_code=exit_code)
    except RunnerError as error:
        return error


def check(raw: bytes, exit_code: int | None) -> None:
    """The property."""
    said = outcome(raw, exit_code)
    if isinstance(said, Case):
        event("a case")
        check_case(said)
        return
    event("refused")
    assert isinstance(said, ReportError | UsageError)
    assert said.exit_code == 2
    assert said.message.isprintable()
    assert len(said.message) < 1_000
    assert said.hint.isprintable()


def check_case(case: Case) -> None:
    """What the rest of the house may rely on: texts that can be encoded, numbers that can be shown."""
    assert isinstance(case, Case)
    texts = [case.workload.display, case.contract.match or "", case.working_copy or "", case.working_copy_problem,
             case.execution.image_problem, case.execution.network or "", *case.environment.names]
    assert "\0" not in "".join(case.workload.command_line).encode().decode()
    assert all(text.encode() is not None for text in texts)
    assert case.contract.mode
    numbers = [case.payload.files, case.payload.bytes, case.contract.exit_code or 0, case.execution.limits.memory or 0]
    assert all(abs(number) < 2**63 for number in numbers)
    assert case.execution.timeout_seconds is None or 0 < case.execution.timeout_seconds < float("inf")


@STRUCTURAL
@given(structurally_mutated(), EXIT_CODES)
def test_no_mutated_structure_escapes(raw: bytes, exit_code: int | None) -> None:
    check(raw, exit_code)


@BYTES
@given(mutated_bytes(), EXIT_CODES)
def test_no_mutated_bytes_escape(raw: bytes, exit_code: int | None) -> None:
    check(raw, exit_code)


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_noise_escapes(raw: bytes) -> None:
    check(raw, None)


@pytest.mark.parametrize("name", RAW)
def test_the_unmutated_reports_are_cases(name: str) -> None:
    check_case(parse_case(RAW[name], path="report.json"))


def test_a_mutation_from_a_file_is_read_like_one_from_memory(tmp_path: Path) -> None:
    for name, raw in RAW.items():
        path = tmp_path / "report.json"
        path.write_bytes(raw[: len(raw) // 2])
        with pytest.raises(ReportError, match="is not JSON"):
            load_case(path)
        path.write_bytes(raw)
        assert load_case(path) == parse_case(raw, path=str(path)), name
