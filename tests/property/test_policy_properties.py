"""No overlay and no report can ever widen a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runner.case import RequestedLimits
from runner.errors import PolicyError, ReportError
from runner.sandbox.policy import Policy, clamp, load_policy, policy_names, tighten
from runner.sandbox.policy_yaml import parse_policy_text
from runner.sandbox.sizes import format_size, parse_size

DEFAULT = load_policy("default")
numbers = st.one_of(st.integers(-5, 1 << 45), st.sampled_from([1, 4096, 1 << 20, 1 << 29]))
scalars = st.one_of(numbers, st.booleans(), st.none(), st.floats(), st.text(max_size=6),
                    st.integers(1, 600).map(lambda size: f"{size}MiB"))
FIELDS = sorted(Policy.model_fields)
PARTS = {"work": ["size", "inodes", "medium"], "tmp": ["size", "inodes"],
         "output": ["stdout", "stderr", "keep", "artifacts"], "payload": ["files", "bytes", "depth", "portable_names"]}


@st.composite
def overlays(draw: st.DrawFn) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for field in draw(st.lists(st.sampled_from([*FIELDS, "privileged"]), max_size=4, unique=True)):
        parts = PARTS.get(field)
        said[field] = draw(scalars if parts is None else st.dictionaries(st.sampled_from(parts), scalars, max_size=2))
    return said


def figures(policy: Policy) -> dict[str, float]:
    flat = {"memory": policy.memory, "pids": policy.pids, "cpus": policy.cpus, "nofile": policy.nofile,
            "file_size": policy.file_size, "shm": policy.shm, "timeout": policy.timeout,
            "runs_per_steward": policy.runs_per_steward, "tmp": policy.tmp.size, "tmp.inodes": policy.tmp.inodes,
            "work": policy.work.size, "work.inodes": policy.work.inodes}
    return flat | policy.output.model_dump() | {f"payload.{key}": value for key, value in
                                                policy.payload.model_dump().items() if key != "portable_names"}


def attempt(action: Callable[[], Any]) -> Any:
    """The result, or the message of a refusal, which is one safe line."""
    try:
        return action()
    except PolicyError as error:
        message = error.message
    assert message.isprintable()
    return message


def assert_not_wider(base: Policy, lowered: Policy) -> None:
    limits = figures(base)
    assert all(value <= limits[name] for name, value in figures(lowered).items())
    assert lowered.memory > lowered.work.size + lowered.tmp.size
    assert lowered.payload.portable_names >= base.payload.portable_names
    assert (lowered.user, lowered.network, lowered.seccomp) == (base.user, base.network, base.seccomp)
    assert set(lowered.accept_unenforced) <= set(base.accept_unenforced)


@given(name=st.sampled_from(policy_names()), overlay=overlays())
def test_an_overlay_tightens_or_is_refused(name: str, overlay: dict[str, Any]) -> None:
    base = load_policy(name)
    lowered = attempt(lambda: tighten(base, overlay))
    if isinstance(lowered, Policy):
        assert_not_wider(base, lowered)


@given(name=st.sampled_from(policy_names()), memory=st.none() | numbers, pids=st.none() | numbers,
       cpus=st.none() | st.floats(), tmp=st.none() | numbers, work=st.none() | numbers, payload=st.integers(0, 1 << 40))
def test_a_report_gets_at_most_what_it_asks_for_and_what_the_policy_has(
        name: str, memory: int | None, pids: int | None, cpus: float | None, tmp: int | None, work: int | None,
        payload: int) -> None:
    base = load_policy(name)
    asks = RequestedLimits(memory=memory, pids=pids, cpus=cpus, tmp=tmp, work=work)
    try:
        lowered, clamps = clamp(base, asks, payload)
    except ReportError:
        return
    assert_not_wider(base, lowered)
    assert lowered.work.size >= min(payload, base.payload.bytes)
    assert all(each.used < each.asked for each in clamps)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_mapping_or_one_line(raw: bytes) -> None:
    assert isinstance(attempt(lambda: parse_policy_text(raw, "own.yaml")), dict | str)


@given(st.text("abc:-[]{},&*!?<>|'\"#%@\n 019.~_", max_size=60))
def test_any_yaml_like_text_is_a_mapping_or_one_line(text: str) -> None:
    assert isinstance(attempt(lambda: parse_policy_text(text.encode(), "own.yaml")), dict | str)


@given(st.integers(0, 1 << 50))
def test_a_size_reads_back(size: int) -> None:
    assert parse_size(format_size(size)) == size
