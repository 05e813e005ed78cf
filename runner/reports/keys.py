"""Keys in PEM files: ed25519, ECDSA on P-256, or RSA of at least 2048 bits. Never with a passphrase."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.signer import CryptoSigner, SSlibKey

from runner.errors import UsageError, printable

_MAX_KEY = 64 << 10
_MIN_RSA_BITS = 2048
_RSA_SCHEMES = ("rsassa-pss-sha256", "rsa-pkcs1v15-sha256")
_LABEL = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_KINDS = "ed25519, ECDSA on P-256, or RSA of at least 2048 bits"
_MAKE = ("make one with `openssl genpkey -algorithm ed25519 -out key.pem`; "
         "`openssl pkey -in key.pem -pubout -out key.pub` writes its public one")


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """What signs. ``exposed``: everybody on this machine may read its file."""

    signer: CryptoSigner
    exposed: bool


def read_private_key(path: Path) -> PrivateKey:
    """The key for ``--sign``. Raises UsageError, which never quotes the file."""
    name = printable(str(path))
    raw, mode = _read(path, name)
    labels = _labels(raw, name)
    if not any(label.endswith("PRIVATE KEY") for label in labels):
        raise UsageError(f"{name}: a {labels[0].lower()}, not a private key", hint="--sign takes the private key")
    if "ENCRYPTED" in labels[0] or b"ENCRYPTED" in raw:
        raise UsageError(f"{name}: the key is protected by a passphrase, and none is asked for",
                         hint="`openssl pkey -in KEY -out PLAIN` writes it without one")
    try:
        key = load_pem_private_key(raw, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _unusable(name, "private") from None
    if isinstance(key, Ed25519PrivateKey | RSAPrivateKey | EllipticCurvePrivateKey) and _is_fit(key.public_key()):
        return PrivateKey(CryptoSigner(key), exposed=stat.S_ISREG(mode) and bool(mode & stat.S_IROTH))
    raise _wrong_kind(name)


def read_public_key(path: Path) -> tuple[SSlibKey, ...]:
    """The key for ``--key``, once for each way in which it may have signed. Raises UsageError."""
    name = printable(str(path))
    raw, _ = _read(path, name)
    labels = _labels(raw, name)
    if any(label.endswith("PRIVATE KEY") for label in labels):
        raise UsageError(f"{name}: a private key, which is not for verifying",
                         hint="`openssl pkey -in KEY -pubout -out PUBLIC` writes the public one")
    if "CERTIFICATE" in labels:
        raise UsageError(f"{name}: a certificate, not a public key",
                         hint="`openssl x509 -in CERTIFICATE -pubkey -noout` prints its key")
    try:
        key = load_pem_public_key(raw)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _unusable(name, "public") from None
    if isinstance(key, RSAPublicKey) and _is_fit(key):
        return tuple(SSlibKey.from_crypto(key, scheme=scheme) for scheme in _RSA_SCHEMES)
    if isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey) and _is_fit(key):
        return (SSlibKey.from_crypto(key),)
    raise _wrong_kind(name)


def _is_fit(key: Ed25519PublicKey | RSAPublicKey | EllipticCurvePublicKey) -> bool:
    if isinstance(key, RSAPublicKey):
        return key.key_size >= _MIN_RSA_BITS
    return isinstance(key, Ed25519PublicKey) or isinstance(key.curve, SECP256R1)


def _read(path: Path, name: str) -> tuple[bytes, int]:
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_KEY + 1)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}", hint=_MAKE) from None
    except ValueError:
        raise UsageError(f"{name}: not a usable file name") from None
    if len(raw) > _MAX_KEY:
        raise UsageError(f"{name}: too large to be a key")
    return raw, mode


def _labels(raw: bytes, name: str) -> list[str]:
    labels = [label.decode() for label in _LABEL.findall(raw)]
    if not labels:
        raise UsageError(f"{name}: not a key in PEM form", hint=_MAKE)
    return labels


def _unusable(name: str, kind: str) -> UsageError:
    return UsageError(f"{name}: not a {kind} key that can be read: damaged, or of an unknown kind", hint=_MAKE)


def _wrong_kind(name: str) -> UsageError:
    return UsageError(f"{name}: a key of another kind than {_KINDS}", hint=_MAKE)
