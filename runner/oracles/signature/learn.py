"""From an observation to a signature, and whether an observation shows a recorded one."""

from __future__ import annotations

from typing import Literal

from runner.evidence.observation import Observation
from runner.oracles.contract import JavaSignature, ProcessSignature, PythonSignature, Signature
from runner.oracles.match import Matcher
from runner.oracles.signature.java import JavaBlock, choose_java, java_blocks
from runner.oracles.signature.process import process_mismatch, process_signature
from runner.oracles.signature.python import PythonBlock, choose_python, python_blocks, signature_of
from runner.oracles.signature.reading import Reading, Searcher
from runner.oracles.signature.surefire import collect_surefire
from runner.oracles.text import output_text
from runner.sandbox.exit import Cause

SignatureKind = Literal["auto", "java", "python", "process"]
ExceptionBlock = PythonBlock | JavaBlock


def learn_signature(kind: SignatureKind, observation: Observation, pattern: str | None, matcher: Matcher,
                    execution_root: str | None = None) -> Signature | None:
    """The signature of this failure, or ``None`` when there is none or it is ambiguous.

    ``auto``: the process if a signal ended it, else a Python, else a Java exception. ``matcher`` lends its
    process to ``pattern``. ``execution_root`` is where the workload saw its work tree; ``None``: as observed.
    Raises PatternError.
    """
    if kind == "process" or (kind == "auto" and observation.status.cause is Cause.SIGNALED):
        return process_signature(observation.status)
    search = _searcher(pattern, matcher)
    if kind in ("auto", "python"):
        block = python_failure(observation, search, execution_root)
        if block is not None or kind == "python":
            return signature_of(block, rooted=True) if block else None
    java = java_failure(observation, search)
    return java.signature() if java else None


def python_failure(observation: Observation, search: Searcher | None,
                   execution_root: str | None = None) -> PythonBlock | None:
    """The Python exception that stands for the failure, frames by the rooted rule."""
    text, root = output_text(observation), execution_root or observation.root
    found = (choose_python(python_blocks(text, reading, root), search)
             for reading in (Reading.NATIVE, Reading.REPOMIN))
    return next((block for block in found if block is not None), None)


def java_failure(observation: Observation, search: Searcher | None) -> JavaBlock | None:
    """The Java exception that stands for the failure."""
    found = (choose_java(java_source(observation, reading), search)
             for reading in (Reading.NATIVE, Reading.REPOMIN))
    return next((block for block in found if block is not None), None)


def signature_mismatch(signature: Signature, observation: Observation, pattern: str | None, matcher: Matcher,
                       execution_root: str | None = None) -> str | None:
    """Why this run does not show the recorded signature, without quoting output; ``None`` if it does.

    Raises PatternError.
    """
    if isinstance(signature, ProcessSignature):
        return process_mismatch(signature, observation.status)
    search = _searcher(pattern, matcher)
    root = execution_root or observation.root
    seen = [found for reading in (Reading.REPOMIN, Reading.NATIVE)
            if (found := _seen(signature, observation, search, root, reading)) is not None]
    if signature in seen:
        return None
    if not seen:
        language = "Java" if signature.kind == "java" else "Python"
        return f"no {language} exception stands out in the output"
    return _difference(signature, seen[0])


def _seen(like: JavaSignature | PythonSignature, observation: Observation, search: Searcher | None, root: str,
          reading: Reading) -> JavaSignature | PythonSignature | None:
    if isinstance(like, JavaSignature):
        java = choose_java(java_source(observation, reading), search)
        return java.signature() if java else None
    blocks = python_blocks(output_text(observation), reading, root if like.rooted else None)
    python = choose_python(blocks, search)
    return signature_of(python, rooted=like.rooted) if python else None


def java_source(observation: Observation, reading: Reading) -> list[JavaBlock]:
    """What Surefire wrote down if it is of use, else the output."""
    reported = java_blocks(collect_surefire(observation.artifacts).text, reading)
    if any(block.usable for block in reported):
        return reported
    return java_blocks(output_text(observation), reading)


def _difference(recorded: JavaSignature | PythonSignature, seen: JavaSignature | PythonSignature) -> str:
    parts = {"class": recorded.class_name != seen.class_name, "message": recorded.message != seen.message,
             "frames": recorded.frames != seen.frames}
    return "another " + " and ".join(name for name, differs in parts.items() if differs)


def _searcher(pattern: str | None, matcher: Matcher) -> Searcher | None:
    return matcher.for_pattern(pattern).search_any if pattern else None
