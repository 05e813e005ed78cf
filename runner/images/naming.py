"""How our images are called: labels that decide, and a tag for people."""

from __future__ import annotations

import platform

from runner.images.recipe import LABEL_PREFIX

IMAGE_LABEL = LABEL_PREFIX + "image"
RECIPE_LABEL = LABEL_PREFIX + "recipe"
REPOSITORY = "sandbox-runner"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def tag_of(name: str, digest: str) -> str:
    """The name that people see: ``sandbox-runner/NAME:RECIPE12``. Nothing is ever chosen by it."""
    return f"{REPOSITORY}/{name}:{digest[:12]}"


def host_platform() -> str:
    """The platform that images built here have, such as ``linux/amd64``."""
    machine = platform.machine()
    return f"linux/{_ARCHITECTURES.get(machine, machine)}"
