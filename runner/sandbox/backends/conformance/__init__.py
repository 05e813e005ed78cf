"""What every backend must show: a list of named behaviours, and the kit that checks them.

A backend's tests make a :class:`Subject` and hand it to :func:`check` with each of :data:`BEHAVIOURS`; whoever
wants a summary instead of an exception calls :func:`examine`. Real backends need ``/bin/sh``, ``python3`` and
the usual small tools inside.
"""

from __future__ import annotations

from runner.sandbox.backends.conformance import endings, environment, lifecycle, output, tree
from runner.sandbox.backends.conformance.kit import (
    Behaviour,
    ConformanceFailure,
    Finding,
    Need,
    Outcome,
    Subject,
    check,
    examine,
)

BEHAVIOURS: tuple[Behaviour, ...] = (
    *endings.BEHAVIOURS, *output.BEHAVIOURS, *tree.BEHAVIOURS, *environment.BEHAVIOURS, *lifecycle.BEHAVIOURS)

__all__ = ["BEHAVIOURS", "Behaviour", "ConformanceFailure", "Finding", "Need", "Outcome", "Subject", "check",
           "examine"]
