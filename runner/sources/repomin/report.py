"""The whole of ReproMin's report schema v1. Unknown keys are tolerated everywhere, as ReproMin does."""

from __future__ import annotations

from runner.errors import ReportError
from runner.sources.repomin.events import check_events
from runner.sources.repomin.execution import read_execution
from runner.sources.repomin.failure import read_failure_spec, read_signature
from runner.sources.repomin.fields import Fields
from runner.sources.repomin.holdout import read_holdout
from runner.sources.repomin.model import Counts, Output, RepominReport
from runner.sources.repomin.phases import check_phases

TREE_POLICY = "tree-sha256-v2"
CONTENT_POLICY = "tree-content-sha256-v1"


def validate_repomin(data: object) -> RepominReport:
    """Check a parsed ``report.json`` against every rule of schema version 1.

    Raises ReportError for the first rule broken: the field's path, what is wrong, what is expected.
    """
    top = Fields(data)
    top.version_one("schema_version")
    version = top.text("repomin_version") if top.has("repomin_version") else None
    command = top.text("command")
    if "\0" in command:
        raise ReportError("command: has a NUL character, expected text without one")
    match = top.text("failure_match", empty=True) if top.given("failure_match") else None
    baseline, final = top.integer("baseline_exit_code"), top.integer("final_exit_code")
    source, output = _counts(top.object("source")), _output(top.object("output"))
    attempts, accepted = top.integer("attempts", 0), top.integer("accepted_mutations", 0)
    hits = top.integer("cache_hits", 0)
    execution = read_execution(top.object("execution"))
    signature = read_signature(top)
    spec = read_failure_spec(top, match, signature)
    check_phases(top.object("phase_statistics"), attempts, accepted)
    check_events(top)
    holdout = read_holdout(top.object("holdout_certification"), output.tree_sha256)
    return RepominReport(version, command, match, baseline, final, source, output, attempts, accepted, hits,
                         execution, spec, signature, holdout)


def _counts(fields: Fields) -> Counts:
    return Counts(fields.integer("files", 0), fields.integer("bytes", 0))


def _output(fields: Fields) -> Output:
    return Output(_counts(fields),
                  _policed_digest(fields, "tree_sha256", "tree_fingerprint_policy", TREE_POLICY),
                  _policed_digest(fields, "tree_content_sha256", "tree_content_fingerprint_policy",
                                  CONTENT_POLICY))


def _policed_digest(fields: Fields, key: str, policy_key: str, policy: str) -> str | None:
    """A digest and the policy it was made under come together or not at all."""
    if not fields.given(key):
        if fields.given(policy_key):
            raise fields.bad(policy_key, f"no policy, because {fields.at(key)} is not set")
        return None
    digest = fields.digest(key)
    fields.choice(policy_key, (policy,))
    return digest
