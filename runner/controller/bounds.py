"""What a person may ask of a replay, and what a policy lets a payload have: for every kind of workload."""

from __future__ import annotations

from typing import Literal

from runner.payload.seal import SealLimits
from runner.sandbox.policy import Policy

MAX_RUNS = 10_000
MAX_JOBS = 64
Network = Literal["none", "bridge", "host"]


def seal_limits(policy: Policy) -> SealLimits:
    """The policy's caps on a payload, in the payload room's words."""
    caps = policy.payload
    return SealLimits(files=caps.files, bytes=caps.bytes, depth=caps.depth, name_bytes=caps.name_bytes,
                      path_bytes=caps.path_bytes, portable_names=caps.portable_names)
