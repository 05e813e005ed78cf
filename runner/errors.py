"""Every error a user can meet, and the one exit-code table.

::

    RunnerError                       code            exit
    ├── InputError                    input              2   something handed to us is wrong
    │   ├── UsageError                usage              2   options that contradict or are missing
    │   ├── ReportError               report             2   a report that cannot be read or believed
    │   ├── PatternError              pattern            2   a match pattern that is invalid or runs away
    │   ├── PolicyError               policy             2   a policy that cannot be read, or that widens
    │   ├── PayloadRefused            payload_refused    2   sealing refused an entry, by a named rule
    │   ├── PayloadMismatch           payload_mismatch   2   not the payload that was recorded
    │   ├── PayloadChanged            payload_changed    2   the payload changed while we worked
    │   ├── EnvironmentMismatch       environment        2   the --env values are not the recorded ones
    │   ├── BundleRefused             bundle_refused     2   a .repro file that breaks a named rule
    │   ├── EvidenceAltered           evidence           2   stored evidence that its own digests disown
    │   └── SignatureInvalid          signature          2   an envelope that this key did not sign
    ├── SetupError                    setup              2   the machinery is missing or failed
    │   ├── EngineUnavailable         engine             2   no engine, or it went away
    │   ├── ImageUnavailable          image              2   an image is missing or is not the pinned one
    │   ├── LimitNotEnforced          limit              2   a cap of the policy does not hold here
    │   ├── SeedMismatch              seed               2   the copy in the volume is not what was sealed
    │   └── StewardLost               steward            2   the trusted helper container died
    ├── NoVerdict                     no_verdict         3   something ran, yet nothing can be said
    │   └── FlakyFailure              flaky              3   record: the runs disagree
    └── Interrupted                   interrupted      130   Ctrl-C or TERM

A message is one line: what is wrong and where. ``hint`` says what to do about it.
This module uses the standard library only: the steward image carries it too.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns; the same table for every command."""

    OK = 0
    NOT_REPRODUCED = 1
    NOTHING_JUDGED = 2
    NO_VERDICT = 3
    INTERRUPTED = 130


class RunnerError(Exception):
    """Base of everything we raise on purpose."""

    code = "error"
    exit_code = ExitCode.NOTHING_JUDGED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(RunnerError):
    """Something handed to us is wrong."""

    code = "input"


class UsageError(InputError):
    """Options that contradict each other, or one that is missing."""

    code = "usage"


class ReportError(InputError):
    """A report that cannot be read, or whose parts contradict each other."""

    code = "report"


class PatternError(InputError):
    """A match pattern that is no regular expression, or does not finish in its time or memory."""

    code = "pattern"


class PolicyError(InputError):
    """A policy that cannot be read, or an overlay that would widen it."""

    code = "policy"


class PayloadRefused(InputError):
    """Sealing refused an entry. ``rule`` names why, ``path`` is the entry, relative to the payload."""

    code = "payload_refused"

    def __init__(self, message: str, *, rule: str, path: bytes, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule
        self.path = path


class PayloadMismatch(InputError):
    """The payload is not the one that the report was made from."""

    code = "payload_mismatch"


class PayloadChanged(InputError):
    """The caller's payload changed between two looks at it."""

    code = "payload_changed"


class EnvironmentMismatch(InputError):
    """The given environment is not the recorded one (names or digest)."""

    code = "environment"


class BundleRefused(InputError):
    """A ``.repro`` file that breaks a rule of the format or a cap. ``rule`` names it."""

    code = "bundle_refused"

    def __init__(self, message: str, *, rule: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class EvidenceAltered(InputError):
    """Stored evidence whose parts do not agree with the digests in it, or that cannot be read."""

    code = "evidence"


class SignatureInvalid(InputError):
    """A signed envelope that is malformed, or that the given key did not sign."""

    code = "signature"


class SetupError(RunnerError):
    """The machinery is missing or failed; this says nothing about the report."""

    code = "setup"


class EngineUnavailable(SetupError):
    """No engine answers, or it went away in the middle."""

    code = "engine"


class ImageUnavailable(SetupError):
    """An image is missing, of another platform, or not the one that was pinned."""

    code = "image"


class LimitNotEnforced(SetupError):
    """A cap that the policy asks for does not hold on this engine."""

    code = "limit"


class SeedMismatch(SetupError):
    """A volume does not hold what was sealed, so nothing was run on it."""

    code = "seed"


class StewardLost(SetupError):
    """The steward container ended or broke its protocol."""

    code = "steward"


class NoVerdict(RunnerError):
    """Something ran, yet no verdict can be given."""

    code = "no_verdict"
    exit_code = ExitCode.NO_VERDICT


class FlakyFailure(NoVerdict):
    """The runs of a recording disagree with each other."""

    code = "flaky"


class Interrupted(RunnerError):
    """The user asked us to stop."""

    code = "interrupted"
    exit_code = ExitCode.INTERRUPTED


def printable(raw: bytes | str) -> str:
    """One-line, terminal-safe text of hostile bytes: controls, newlines and bad UTF-8 become escapes."""
    text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
    return "".join(char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
                   if not 0xDC80 <= ord(char) <= 0xDCFF else f"\\x{ord(char) - 0xDC00:02x}" for char in text)
