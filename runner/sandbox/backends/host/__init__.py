"""Runs on the host itself: process hygiene, no boundary. For reports that a person trusts."""

from runner.sandbox.backends.host.backend import HostBackend

__all__ = ["HostBackend"]
