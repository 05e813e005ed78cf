"""What can be found by a replay, as SARIF's rules. Only a finding of kind ``fail`` has a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding."""

    id: str
    name: str
    kind: Literal["fail", "open"]
    level: Literal["error", "warning", "none"]
    short: str
    full: str

    def descriptor(self) -> dict[str, Any]:
        """SARIF's ``reportingDescriptor``."""
        level = "none" if self.kind == "open" else self.level
        return {"id": self.id, "name": self.name, "shortDescription": {"text": self.short},
                "fullDescription": {"text": self.full}, "help": {"text": self.full},
                "defaultConfiguration": {"level": level}}


REPRODUCED = Rule(
    "RUN1001", "FailureReproduced", "fail", "error", "The reported failure is real.",
    "Every requested run of the report's command, on a fresh copy of the payload in a sandbox, failed as recorded.")
NOT_REPRODUCED = Rule(
    "RUN1002", "FailureNotReproduced", "fail", "warning", "The report does not hold.",
    "At least one run did not show the recorded failure: it is flaky, fixed, or was never there.")
RUN_REFUSED = Rule(
    "RUN1003", "RunNotAccepted", "fail", "warning", "A run did not show the recorded failure.",
    "One run ended otherwise than recorded, or its output lacks the recorded pattern or signature.")
NO_VERDICT = Rule(
    "RUN1004", "NoVerdict", "open", "none", "Nothing can be said of the report.",
    "The runs were cut short, or hit a limit that the report asked for; this says nothing about the payload.")

RULES = (REPRODUCED, NOT_REPRODUCED, RUN_REFUSED, NO_VERDICT)
