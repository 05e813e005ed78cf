"""What a signed export says, for a person: what it is, what it is about, and the result. Pure."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from runner.reports.envelope import Signed
from runner.reports.formats import FORMATS

_MAX_SUBJECTS = 100


def attested(signed: Signed) -> dict[str, Any]:
    """Plain values for JSON; texts are the signer's. Fields of the payload that are not as they should be are null."""
    said: dict[str, Any] = {
        "key": {"id": signed.key.keyid, "type": signed.key.keytype},
        "payload": {"type": signed.payload_type, "bytes": len(signed.payload),
                    "sha256": sha256(signed.payload).hexdigest()}}
    if signed.payload_type == FORMATS["in-toto"].media_type:
        return said | _statement(_document(signed.payload))
    if signed.payload_type == FORMATS["json"].media_type:
        return said | _result(_document(signed.payload))
    return said


def attested_text(said: dict[str, Any]) -> list[tuple[str, str]]:
    """Label and value a line; values are raw."""
    payload = said["payload"]
    rows = [("key", f"{said['key']['type']} {said['key']['id']}"),
            ("payload type", payload["type"]),
            ("payload", f"{payload['bytes']} bytes, sha256 {payload['sha256']}")]
    rows += [("subject", f"{each['name'] or '?'} {each['sha256'] or '?'}") for each in said.get("subjects", ())]
    rows += [(name, str(said[name])) for name in ("result", "verdict", "run") if said.get(name) is not None]
    return rows


def _statement(document: dict[str, Any]) -> dict[str, Any]:
    predicate = _object(document.get("predicate"))
    evidence = next((_object(each.get("annotations")) for each in _objects(predicate.get("configuration"))
                     if each.get("name") == "evidence"), {})
    subjects = [{"name": _text(each.get("name")), "sha256": _text(_object(each.get("digest")).get("sha256"))}
                for each in _objects(document.get("subject"))[:_MAX_SUBJECTS]]
    return {"subjects": subjects, "result": _text(predicate.get("result")),
            "verdict": _text(evidence.get("verdict")), "run": _text(evidence.get("runId"))}


def _result(document: dict[str, Any]) -> dict[str, Any]:
    fingerprint = _object(document.get("payload_fingerprint"))
    subjects = [{"name": "payload", "sha256": _text(fingerprint.get("exact"))},
                {"name": "report", "sha256": _text(document.get("report_sha256"))}]
    return {"subjects": subjects, "verdict": _text(document.get("verdict")), "run": _text(document.get("run_id"))}


def _document(raw: bytes) -> dict[str, Any]:
    try:
        return _object(json.loads(raw))
    except (ValueError, RecursionError):
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
