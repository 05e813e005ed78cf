"""What can be found by a replay or a browser session, as SARIF's rules. Only a finding of kind ``fail`` has a level."""

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

_SEEN = "A browser session showed it. The message says in how many runs, and whether the recording had it."
KINDS = {
    "pageerror": Rule("RUN2001", "PageError", "fail", "error", "An error in the page that nothing caught.", _SEEN),
    "http_error": Rule("RUN2002", "HttpError", "fail", "error", "The server answered with an error.", _SEEN),
    "failed_request": Rule("RUN2003", "FailedRequest", "fail", "warning", "A request got no answer.", _SEEN),
    "console_error": Rule("RUN2004", "ConsoleError", "fail", "warning", "The page wrote an error to its console.",
                          _SEEN),
    "resource_failure": Rule("RUN2005", "ResourceFailure", "fail", "warning", "A part of the page did not load.",
                             _SEEN),
    "navigation_error": Rule("RUN2006", "NavigationError", "fail", "warning", "A page could not be opened.", _SEEN),
    "dialog": Rule("RUN2007", "UnexpectedDialog", "fail", "warning", "The page opened a dialog.", _SEEN),
    "ui_freeze": Rule("RUN2008", "BlankOrFrozenPage", "fail", "error", "The page was blank, or did not react.", _SEEN),
    "layout": Rule("RUN2009", "LayoutIssue", "fail", "warning", "The page does not fit its screen.", _SEEN),
    "race": Rule("RUN2010", "Race", "fail", "error", "A request succeeded more often than it may.", _SEEN),
}
"""By kind of a failure's identity. An unhandled rejection is a page error."""

OTHER_KIND = Rule("RUN2099", "OtherFailure", "fail", "warning", "A failure of a kind that is not known here.", _SEEN)

ASSERTION_FAILED = Rule(
    "RUN3001", "AssertionFailed", "fail", "error", "An assertion of a load scenario failed.",
    "At least one journey of the scenario, the application's final state, or a threshold of the script was not as the "
    "scenario declares.")

COMMAND_RULES = (REPRODUCED, NOT_REPRODUCED, RUN_REFUSED, NO_VERDICT)
RULES = (*COMMAND_RULES, *KINDS.values(), OTHER_KIND, ASSERTION_FAILED)
