"""Which engine, and by what way: read from the usual environment, and settled before anything is sent.

The variables are Docker's own (DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH: docs.docker.com, "Docker CLI
environment variables"). Contexts of the command line tool are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner.errors import EngineUnavailable, printable

Reached = Literal["unix", "tcp", "tcp+tls"]
_CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
_DEFAULT = "unix:///var/run/docker.sock"
_TUNNEL = "for another host: tcp with TLS, or `ssh -N -L /tmp/engine.sock:/var/run/docker.sock HOST` and unix://"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the engine is. ``certificates`` holds ca.pem, cert.pem and key.pem; ``None``: no TLS."""

    host: str
    reached: Reached
    certificates: Path | None = None


def engine_address(environment: Mapping[str, str]) -> Address:
    """The engine that the environment names; TLS always proves both sides.

    Raises EngineUnavailable for a way that is not supported, and for TLS that is only half set up.
    """
    host = environment.get("DOCKER_HOST") or _DEFAULT
    scheme, separator, _ = host.partition("://")
    if separator == "" or scheme not in ("unix", "tcp", "http", "https"):
        raise EngineUnavailable(f"DOCKER_HOST is {printable(host)[:120]}, but only unix:// and tcp:// are supported",
                                hint=_TUNNEL)
    if scheme == "unix":
        return Address(host, "unix")
    folder = environment.get("DOCKER_CERT_PATH")
    if not environment.get("DOCKER_TLS_VERIFY"):
        if folder or scheme == "https":
            raise EngineUnavailable("TLS is set up, but DOCKER_TLS_VERIFY is not: the engine would not be checked",
                                    hint="set DOCKER_TLS_VERIFY=1")
        return Address(host, "tcp")
    return Address(host, "tcp+tls", _complete(Path(folder) if folder else Path.home() / ".docker"))


def _complete(folder: Path) -> Path:
    missing = [name for name in _CERTIFICATES if not (folder / name).is_file()]
    if missing:
        raise EngineUnavailable(f"{' and '.join(missing)} not found in {printable(str(folder))[:160]}",
                                hint="DOCKER_CERT_PATH names the folder of ca.pem, cert.pem and key.pem")
    return folder


def reached_by(base_url: str) -> Reached:
    """The way of a connection that exists, by the SDK's own address of it."""
    if base_url.startswith("https://"):
        return "tcp+tls"
    return "tcp" if base_url.startswith("http://") else "unix"
