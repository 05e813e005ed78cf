"""What the user of a recording has already decided; the rest is learned."""

from __future__ import annotations

from dataclasses import dataclass

from runner.oracles.signature.learn import SignatureKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """``None`` means: learn it. Only ``signature`` differs: ``auto`` learns one, ``None`` wants none."""

    match: str | None = None
    exit_code: int | None = None
    signature: SignatureKind | None = "auto"
