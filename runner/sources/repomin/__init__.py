"""ReproMin's ``report.json``, schema version 1: every rule of its validator, its case, and a writer.

``validate_repomin`` checks a parsed report alone; ``to_case`` makes the case of a checked one;
``write_repomin`` writes one from a recording.
"""

from runner.sources.repomin.case import recorded_payload, to_case
from runner.sources.repomin.model import RepominReport
from runner.sources.repomin.report import validate_repomin
from runner.sources.repomin.write import write_repomin

__all__ = ["RepominReport", "recorded_payload", "to_case", "validate_repomin", "write_repomin"]
