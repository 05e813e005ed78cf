"""LiteTraffic's digest of a scenario, ``scenario_sha256``: of the manifest, then of each file that it covers.

It leaves out what a script opens by a computed name. The digest over everything that k6 can read is the fingerprint of
the whole directory, which sealing makes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def scenario_sha256(manifest: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """``files`` has the SHA-256, in hexadecimal, of each covered file by its name."""
    digest = sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode())
    for name in sorted(files):
        digest.update(b"\n" + name.encode("utf-8", "surrogateescape") + b"\0" + files[name].encode())
    return digest.hexdigest()
