"""The evidence as canonical JSON: sorted keys, no spaces, ASCII, one newline at the end.

It is ``result.json`` in its one shortest form. Without the key ``events`` (and the newline) its SHA-256 is the
``result_sha256`` of the event log's last event.
"""

from __future__ import annotations

from runner.evidence.check import Evidence
from runner.evidence.events import canonical


def render_json(evidence: Evidence) -> str:
    """One line."""
    return canonical(evidence.result.model_dump(mode="json", by_alias=True)).decode() + "\n"
