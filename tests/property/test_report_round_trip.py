"""Whatever can be drafted and written reads back as the same claims, in both formats."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from runner.case import RecordedEnvironment, RecordedExecution
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.sandbox.image import ImagePin
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.environment import environment_sha256
from runner.sources.load import parse_case
from runner.sources.native import write_native
from runner.sources.repomin import write_repomin
from runner.workloads.command import CommandWorkload

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
WORD = TEXT.filter(bool)
DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64)
NAMES = st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True).filter(lambda name: name != "REPOMIN"),
                 unique=True, max_size=4)
FRAMES = st.lists(WORD, min_size=1, max_size=3).map(tuple)
EXCEPTIONS = (st.builds(JavaSignature, WORD, TEXT, FRAMES)
              | st.builds(PythonSignature, WORD, TEXT, FRAMES, st.booleans()))
PROCESSES = st.builds(ProcessSignature, st.just("posix_signal"), st.integers(1, 255), st.none() | WORD)
CODES = st.integers(-(2**31), 2**32)
CONTRACTS = (st.builds(Contract, CODES, st.none() | TEXT, st.none() | EXCEPTIONS)
             | st.builds(Contract, st.none(), TEXT, st.none() | EXCEPTIONS)
             | st.builds(Contract, st.none(), st.none() | TEXT, PROCESSES))
WORKLOADS = (st.builds(CommandWorkload, shell=WORD)
             | st.builds(lambda first, rest: CommandWorkload(argv=(first, *rest)), WORD, st.lists(TEXT, max_size=4)))


@st.composite
def drafts(draw: st.DrawFn) -> ReportDraft:
    names = sorted(draw(NAMES))
    manifest = draw(st.just("") | DIGEST.map("sha256:".__add__))
    image = ImagePin("sha256:" + draw(DIGEST), draw(TEXT), draw(TEXT), manifest)
    return ReportDraft(
        created="2026-11-30T12:00:00Z", tool_version="1", workload=draw(WORKLOADS), contract=draw(CONTRACTS),
        payload=RecordedTree("name", 1, 2, 3, draw(DIGEST), draw(DIGEST), draw(DIGEST), draw(DIGEST)),
        environment=RecordedEnvironment(tuple(names), environment_sha256((name, draw(TEXT)) for name in names)),
        execution=RecordedExecution("docker", image, "none", draw(st.floats(1e-3, 1e5)), "default", draw(DIGEST)),
        baseline=Baseline(3, 3, draw(CODES)))


@given(drafts())
def test_native(made: ReportDraft) -> None:
    case = parse_case(write_native(made), path="x")
    assert (case.workload, case.contract, case.environment, case.execution) == (
        made.workload, made.contract, made.environment, made.execution)
    assert (case.payload.exact, case.payload.content) == (made.payload.exact, made.payload.content)


@given(drafts())
def test_repomin(made: ReportDraft) -> None:
    case = parse_case(write_repomin(made), path="x")
    contract = case.contract
    if isinstance(contract.signature, ProcessSignature):  # what a docker client saw as an exit code, read as that
        contract = replace(contract, signature=replace(contract.signature, signal_as_exit=False))
    assert (case.workload.shell, contract, case.environment) == (
        made.workload.display, made.contract, made.environment)
    assert (case.payload.exact, case.payload.content) == (made.payload.tree_exact, made.payload.tree_content)
    assert made.execution.image is not None
    assert case.execution.image == ImagePin(made.execution.image.id, made.execution.image.name)
    assert case.execution.timeout_seconds == made.execution.timeout_seconds
