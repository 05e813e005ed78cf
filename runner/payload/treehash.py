"""ReproMin's tree digests."""

from __future__ import annotations

import os
from typing import NamedTuple

from runner.payload.tree import SealLimits


class TreeHashes(NamedTuple):
    """``exact`` is tree-sha256-v2, ``content`` is tree-content-sha256-v1; lowercase hex."""

    exact: str
    content: str


def tree_hashes(path: str | bytes | os.PathLike[str], limits: SealLimits) -> TreeHashes:
    """Both digests in one pass. Refuses what sealing refuses."""
    raise NotImplementedError
