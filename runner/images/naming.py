"""How our images are called: labels that decide, and a tag for people."""

from __future__ import annotations

import platform

from runner.images.recipe import LABEL_PREFIX

IMAGE_LABEL = LABEL_PREFIX + "image"
RECIPE_LABEL = LABEL_PREFIX + "recipe"
LAYERS_LABEL = LABEL_PREFIX + "layers"
"""How many layers an image has, where it is not one."""

REPOSITORY = "sandbox-runner"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def tag_of(name: str, digest: str) -> str:
    """The name that people see: ``sandbox-runner/NAME:RECIPE12``. Nothing is ever chosen by it."""
    return f"{REPOSITORY}/{name}:{digest[:12]}"


def host_architecture() -> str:
    """That of images built here, such as ``amd64``."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def host_platform() -> str:
    """The platform that images built here have, such as ``linux/amd64``."""
    return f"linux/{host_architecture()}"
