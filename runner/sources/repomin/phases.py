"""``phase_statistics``: what the reduction tried, and whether the sums agree."""

from __future__ import annotations

from runner.errors import ReportError
from runner.sources.repomin.fields import Fields
from runner.sources.wording import describe

_OUTCOMES = ("no_op", "rejected", "accepted", "superseded", "aborted")
_COUNTS = ("attempts", *_OUTCOMES, "oracle_sample_uses", "oracle_samples", "cache_hits")


def check_phases(fields: Fields, attempts: int, accepted: int) -> None:
    """With ``partial`` coverage the phases are not looked at, as ReproMin does."""
    if fields.has("schema_version"):
        fields.version_one("schema_version")
    coverage = fields.choice("coverage", ("complete", "partial"))
    fields.array("phases")
    if coverage == "partial":
        return
    totals = {"attempts": 0, "accepted": 0}
    for phase in fields.objects("phases"):
        counts = {key: phase.integer(key, 0) for key in _COUNTS}
        if counts["attempts"] != sum(counts[key] for key in _OUTCOMES):
            raise phase.bad("attempts", f"the sum of {', '.join(_OUTCOMES)}")
        if counts["oracle_sample_uses"] != counts["oracle_samples"] + counts["cache_hits"]:
            raise phase.bad("oracle_sample_uses", "the sum of oracle_samples and cache_hits")
        for key in totals:
            totals[key] += counts[key]
    for key, stated in (("attempts", attempts), ("accepted", accepted)):
        if totals[key] != stated:
            raise ReportError(f"{fields.at('phases')}: {key} sum to {describe(totals[key])} over the phases,"
                              f" expected {describe(stated)} as at the top of the report")
