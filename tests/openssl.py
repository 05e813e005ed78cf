"""Keys and signatures by openssl, so that what we sign and verify is checked by a program that is not ours."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

KINDS = {"ed25519": ("-algorithm", "ed25519"),
         "ecdsa": ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
         "rsa": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")}
_PSS = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest")


def openssl(*words: str | Path) -> str:
    """Run it; it must succeed."""
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_key(folder: Path, kind: str, *options: str) -> tuple[Path, Path]:
    """A private key with mode 0600, and its public key. ``options`` instead of those of a kind in KINDS."""
    private, public = folder / f"{kind}.pem", folder / f"{kind}.pub"
    openssl("genpkey", *(options or KINDS[kind]), "-out", private)
    private.chmod(0o600)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    return private, public


def encoded(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding, written from its specification."""
    kind = payload_type.encode()
    return b"DSSEv1 " + b" ".join((str(len(kind)).encode(), kind, str(len(payload)).encode(), payload))


def verify_envelope(envelope: bytes, kind: str, public: Path, folder: Path) -> bytes:
    """Check the one signature of an envelope; returns the payload."""
    fields = json.loads(envelope)
    payload = b64decode(fields["payload"], validate=True)
    (folder / "pae").write_bytes(encoded(fields["payloadType"], payload))
    (folder / "sig").write_bytes(b64decode(fields["signatures"][0]["sig"], validate=True))
    if kind == "ed25519":
        openssl("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", public, "-in", folder / "pae",
                "-sigfile", folder / "sig")
    else:
        openssl("dgst", "-sha256", *(_PSS if kind == "rsa" else ()), "-verify", public,
                "-signature", folder / "sig", folder / "pae")
    return payload


def make_envelope(payload_type: str, payload: bytes, kind: str, private: Path, folder: Path, *,
                  padding: tuple[str, ...] = _PSS) -> bytes:
    """An envelope without a key id, signed by openssl; ``padding`` is for RSA."""
    (folder / "pae").write_bytes(encoded(payload_type, payload))
    if kind == "ed25519":
        openssl("pkeyutl", "-sign", "-rawin", "-inkey", private, "-in", folder / "pae", "-out", folder / "sig")
    else:
        openssl("dgst", "-sha256", *(padding if kind == "rsa" else ()), "-sign", private,
                "-out", folder / "sig", folder / "pae")
    return json.dumps({"payloadType": payload_type, "payload": b64encode(payload).decode(),
                       "signatures": [{"sig": b64encode((folder / "sig").read_bytes()).decode()}]}).encode()
