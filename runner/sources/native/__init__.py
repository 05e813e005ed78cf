"""The native report, ``schema: "runner.report/1"``: its model, its case, and its writer.

``docs/report-format.md`` describes it for people.
"""

from runner.sources.native.case import recorded_payload, to_case
from runner.sources.native.command import CommandReport
from runner.sources.native.parse import SCHEMA, dump_native, parse_native
from runner.sources.native.write import write_native

__all__ = ["SCHEMA", "CommandReport", "dump_native", "parse_native", "recorded_payload", "to_case", "write_native"]
