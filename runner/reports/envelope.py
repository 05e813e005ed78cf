"""Signed exports: DSSE envelopes (``https://github.com/secure-systems-lab/dsse``, version 1).

What is signed is the pre-authentication encoding of payload type and payload, never JSON. Key ids are hints: a
signature counts if the given key made it, whatever it calls itself.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature, Signer, SSlibKey

from runner.errors import SignatureInvalid
from runner.evidence.events import canonical

_MAX_SIGNATURES = 64
_URL_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Signed:
    """A payload that ``key`` signed."""

    payload: bytes
    payload_type: str
    key: SSlibKey


def sign(payload: bytes, payload_type: str, signer: Signer) -> bytes:
    """The envelope as canonical JSON, with a newline at its end."""
    envelope = Envelope(payload, payload_type, {})
    envelope.sign(signer)
    return canonical(envelope.to_dict()) + b"\n"


def open_signed(raw: bytes, keys: Sequence[SSlibKey]) -> Signed:
    """What ``raw`` holds, if one of ``keys`` signed it. Raises SignatureInvalid."""
    envelope, signatures = _parse(raw)
    encoded = envelope.pae()
    for signature in signatures:
        for key in keys:
            try:
                key.verify_signature(Signature(key.keyid, signature.hex()), encoded)
            except UnverifiedSignatureError:
                continue
            return Signed(envelope.payload, envelope.payload_type, key)
    raise SignatureInvalid("not signed by this key, or changed since",
                           hint="ask the signer for the public key, by another way than this file came")


def _parse(raw: bytes) -> tuple[Envelope, list[bytes]]:
    try:
        fields = json.loads(raw)
        payload, payload_type, signatures = fields["payload"], fields["payloadType"], fields["signatures"]
        if not isinstance(payload_type, str) or not isinstance(signatures, list) or len(signatures) > _MAX_SIGNATURES:
            raise ValueError("form")
        payload_type.encode()
        return Envelope(_decoded(payload), payload_type, {}), [_decoded(each["sig"]) for each in signatures]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SignatureInvalid("not a signed export: a DSSE envelope was expected",
                               hint="`runner export RUN --format in-toto --sign KEY` makes one") from None


def _decoded(text: Any) -> bytes:
    """Base64 of either alphabet, as DSSE asks of verifiers. Raises ValueError, TypeError."""
    if not isinstance(text, str):
        raise TypeError("not text")
    return b64decode(text.translate(_URL_SAFE), validate=True)
