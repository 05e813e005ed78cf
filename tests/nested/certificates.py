"""Certificates for mutual TLS, made by openssl for the length of a session."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ENGINE_NAME = "engine"
"""What the nested engine is called on a network of its own."""


@dataclass(frozen=True)
class Certificates:
    """Folders with ``ca.pem``, ``cert.pem`` and ``key.pem`` each: of the engine, of its client, and of two strangers:
    one whose client certificate the engine does not know, one that expects another authority.
    """

    engine: Path
    client: Path
    unknown_client: Path
    other_authority: Path


def make_certificates(place: Path) -> Certificates:
    """Everything, below ``place``. Readable by all: a container's user must be able to."""
    ours, theirs = _authority(place / "ours"), _authority(place / "theirs")
    client = _signed(place / "client", ours)
    unknown, other = place / "unknown", place / "other"
    _signed(unknown, theirs)
    shutil.copy(ours / "ca.pem", unknown / "ca.pem")
    shutil.copytree(client, other)
    shutil.copy(theirs / "ca.pem", other / "ca.pem")
    made = Certificates(_signed(place / "engine", ours), client, unknown, other)
    for path in (place, *place.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return made


def _authority(folder: Path) -> Path:
    folder.mkdir()
    _openssl("req", "-x509", *_new_key(folder / "ca-key.pem"), "-days", "2", "-subj", f"/CN={folder.name}",
             "-out", folder / "ca.pem")
    return folder


def _signed(folder: Path, authority: Path) -> Path:
    folder.mkdir()
    request, extensions = folder / "request.pem", folder / "extensions"
    extensions.write_text(f"subjectAltName=IP:127.0.0.1,DNS:{ENGINE_NAME}\nextendedKeyUsage=serverAuth,clientAuth\n")
    _openssl("req", *_new_key(folder / "key.pem"), "-subj", f"/CN={folder.name}", "-out", request)
    _openssl("x509", "-req", "-in", request, "-CA", authority / "ca.pem", "-CAkey", authority / "ca-key.pem",
             "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", folder / "cert.pem")
    shutil.copy(authority / "ca.pem", folder / "ca.pem")
    return folder


def _new_key(path: Path) -> tuple[str | Path, ...]:
    return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
