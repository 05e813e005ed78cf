"""Names and labels: everything we create says whose it is and when it may go, from creation on."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Literal

from runner import __version__

PREFIX = "io.sandbox-runner."
SESSION = PREFIX + "session"
ROLE = PREFIX + "role"
CREATED = PREFIX + "created"
EXPIRES = PREFIX + "expires"
VERSION = PREFIX + "version"

Role = Literal["steward", "workload", "volume", "tools"]


@dataclass(frozen=True, slots=True)
class Ownership:
    """One session's mark. ``lifetime`` is seconds after which anyone may remove what is left of it."""

    lifetime: float
    session: str = field(default_factory=lambda: secrets.token_hex(6))

    def name(self, part: str) -> str:
        """A deterministic name on the engine."""
        return f"runner-{self.session}-{part}"

    def labels(self, role: Role) -> dict[str, str]:
        """The labels that an object gets when it is created."""
        now = time.time()
        return {SESSION: self.session, ROLE: role, VERSION: __version__, CREATED: str(int(now)),
                EXPIRES: str(int(now + self.lifetime))}
