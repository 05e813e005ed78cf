"""A scenario directory that is right, to be made wrong in one place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

MANIFEST: dict[str, Any] = {
    "schema_version": 1, "name": "shop", "script": "journeys.js",
    "actors": [{"class": "buyer", "count": 2, "auth_recipe": "none"}],
    "fixtures": {"recipe": "none"},
    "journeys": [{"name": "buy", "max_requests": 3, "max_writes": 1}],
    "schedule": {"unit": "journeys_per_second", "phases": [{"name": "all", "seconds": 4, "rate": 5}]},
    "assertions": ["bought", "left"], "observer": "stock",
    "budgets": {"max_seconds": 200, "max_requests": 1000, "max_write_attempts": 500, "max_in_flight": 8,
                "max_artifact_bytes": 1000000},
}
OWNED = {"create_path": "/rooms", "delete_path": "/rooms/{fixture_id}", "id_pointer": "/id"}
HOOKS = {"setup": ["sh", "make.sh"], "teardown": ["sh", "drop.sh"], "timeout_seconds": 5}
LOOK = {"path": "/stock", "assertion": "left", "expected": {"/left": 3}}
AUTH = {"kind": "jwt_hs256", "secret_env": "KEY", "claims": {"sub": "u-${actor_index}"}, "ttl_seconds": 60}
SCRIPT = "export default function () {}\n"


def changed(path: str = "", value: Any = None) -> dict[str, Any]:
    """The manifest with one value set at a dotted path."""
    document = copy.deepcopy(MANIFEST)
    *parents, last = path.split(".")
    place: Any = document
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if path:
        place[int(last) if isinstance(place, list) else last] = value
    return document


def written(folder: Path, manifest: Any = None, **files: str | bytes) -> Path:
    """A scenario directory. ``files`` are by name, with ``__`` for a slash and ``_js`` and the like for a suffix."""
    raw = manifest if isinstance(manifest, bytes) else json.dumps(MANIFEST if manifest is None else manifest).encode()
    contents = {"journeys_js": SCRIPT, **files}
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_bytes(raw)
    for name, content in contents.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        place = folder / f"{stem}.{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
