"""The connection to an engine, and the one place where its errors become ours."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException, NotFound
from docker.tls import TLSConfig
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential

from runner.errors import EngineUnavailable, SetupError, printable
from runner.sandbox.backends.docker.address import Address, engine_address
from runner.sandbox.backends.docker.calls import tell_calls

CALL_TIMEOUT = 60.0
"""Seconds that one engine call may take; streams have their own deadline."""

_ABSENCE_SECONDS = 1.0
_GONE = (requests.exceptions.ConnectionError, requests.exceptions.Timeout, urllib3.exceptions.ProtocolError,
         ConnectionError, TimeoutError)
_FIX = "start it (for example `systemctl start docker`), or set DOCKER_HOST; `runner doctor` tells more"
_ACCESS_FIX = ("let this user use the engine's socket (often by the group `docker`, which is as good as root), or set "
               "DOCKER_HOST to an engine of this user's")
_TLS_FIX = "DOCKER_CERT_PATH names the folder of ca.pem, cert.pem and key.pem; docs/engines.md says what each must be"


def connect(max_pool: int = 32) -> docker.APIClient:
    """A client by the usual environment (DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH).

    Raises EngineUnavailable.
    """
    address = engine_address(os.environ)
    with engine_errors("connect to the engine"):
        return tell_calls(_Client(base_url=address.host, version="auto", timeout=int(CALL_TIMEOUT),
                                  num_pools=max_pool, max_pool_size=max_pool, tls=_tls(address)))


class _Client(docker.APIClient):
    """Listens to nothing that the environment says of other connections. ``requests`` would let REQUESTS_CA_BUNDLE
    replace the engine's own authority, send the engine's calls through HTTP_PROXY, and log in by .netrc.
    """

    @property
    def trust_env(self) -> bool:
        """Read by ``requests`` before each call."""
        return False

    @trust_env.setter
    def trust_env(self, _: bool) -> None:
        """The constructor of ``requests.Session`` sets it."""


def _tls(address: Address) -> TLSConfig | bool:
    folder = address.certificates
    if folder is None:
        return False
    return TLSConfig(client_cert=(str(folder / "cert.pem"), str(folder / "key.pem")),
                     ca_cert=str(folder / "ca.pem"), verify=True)


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn whatever the SDK raises into one line that says what we were doing."""
    try:
        yield
    except APIError as error:
        explanation = printable(str(error.explanation or error))[:400]
        raise SetupError(f"the engine refused to {doing}: {explanation}",
                         hint="`runner doctor` checks the engine") from error
    except _GONE as error:
        raise _unavailable(f"the engine went away while we tried to {doing}", error) from error
    except DockerException as error:
        raise _unavailable("no engine answers", error) from error
    except OSError as error:
        raise _unavailable(f"the connection to the engine broke while we tried to {doing}", error) from error


def _unavailable(what: str, error: BaseException) -> EngineUnavailable:
    cause = _bottom(error)
    said = printable(str(cause) or type(cause).__name__)[:200]
    if isinstance(cause, ssl.SSLCertVerificationError):
        return EngineUnavailable(f"{what}: its certificate is not one that our ca.pem vouches for: {said}",
                                 hint=_TLS_FIX)
    if isinstance(cause, ssl.SSLError):
        return EngineUnavailable(f"{what}: TLS failed, and it must know the authority of our cert.pem: {said}",
                                 hint=_TLS_FIX)
    return EngineUnavailable(f"{what}: {said}", hint=_ACCESS_FIX if isinstance(cause, PermissionError) else _FIX)


def _bottom(error: BaseException) -> BaseException:
    """Three libraries wrap a fault, each in words of its own. An answer of the engine is the bottom, and so is a fault
    of anybody else, met on the way here.
    """
    while not isinstance(error, APIError):
        wrapped = next((part for part in error.args if isinstance(part, BaseException)), None)
        below = error.__cause__ or wrapped or (None if error.__suppress_context__ else error.__context__)
        if not isinstance(below, (OSError, DockerException, urllib3.exceptions.HTTPError)):
            break
        error = below
    return error


def retrying(seconds: float) -> Retrying:
    """Retry an *idempotent* call for a bounded time; the last error is raised as it is.

    An engine that answers, but not as we wish, gets ``seconds``; one that does not answer gets far less, so
    that the end of a lost engine's replay does not wait for it call by call.
    """
    def stop(state: RetryCallState) -> bool:
        failure = state.outcome.exception() if state.outcome is not None else None
        limit = seconds if isinstance(failure, APIError) else min(seconds, _ABSENCE_SECONDS)
        return (state.seconds_since_start or 0.0) >= limit

    return Retrying(retry=retry_if_exception_type((*_GONE, APIError)), stop=stop,
                    wait=wait_exponential(multiplier=0.05, max=1.0), reraise=True)


def remove_container(api: docker.APIClient, container: str, seconds: float = 8.0) -> None:
    """Remove a container and its anonymous volumes; one that is gone already is fine."""
    for attempt in retrying(seconds):
        with attempt:
            try:
                api.remove_container(container, force=True, v=True)
            except NotFound:
                return
            except APIError as error:
                if "already in progress" not in str(error.explanation):
                    raise


def remove_volume(api: docker.APIClient, volume: str, seconds: float = 8.0) -> None:
    """Remove a volume of ours; one that is gone already is fine."""
    for attempt in retrying(seconds):
        with attempt:
            try:
                api.remove_volume(volume, force=True)
            except NotFound:
                return
