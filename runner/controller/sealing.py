"""Which payload a replay is about, and whether it is the recorded one."""

from __future__ import annotations

import os

from runner.bundle.layout import PAYLOAD
from runner.bundle.proof import match_payload
from runner.bundle.read import read_bundle
from runner.bundle.rules import named
from runner.controller.bounds import seal_limits
from runner.controller.settle import Settled
from runner.errors import PayloadChanged, printable
from runner.payload.seal import SealedPayload, SealLimits, seal
from runner.sources.fingerprints import FingerprintMatch


def seal_for(settled: Settled) -> tuple[SealedPayload, FingerprintMatch]:
    """The payload that was named, or else the one in the report's bundle; compared with what the report records.

    Raises PayloadRefused, PayloadChanged, PayloadMismatch, BundleRefused.
    """
    limits = seal_limits(settled.policy)
    sealed = _in_bundle(settled, limits) if settled.request.payload is None else seal(settled.request.payload, limits)
    with named(settled.case.path):
        return sealed, match_payload(settled.case.payload, sealed)


def _in_bundle(settled: Settled, limits: SealLimits) -> SealedPayload:
    bundle = read_bundle(settled.case.path, limits)
    if bundle.head.document.report.sha256 != settled.case.sha256:
        raise PayloadChanged(f"the bundle {printable(settled.case.path)} changed since its report was read",
                             hint="nothing may write to the bundle while it is used")
    return bundle.sealed


def working_copy(settled: Settled) -> str:
    """The name of the directory that a host replay runs in."""
    return settled.case.working_copy or os.path.basename(os.path.abspath(settled.request.payload or PAYLOAD.decode()))
