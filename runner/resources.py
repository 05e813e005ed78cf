"""Where the data folders are that belong to the program: policies, image recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from runner.errors import SetupError

_PACKAGE = Path(__file__).resolve().parent


def data_dir(name: Literal["images", "policies"]) -> Path:
    """The folder ``name``: inside the package when installed, at the top level in a checkout.

    Raises SetupError when neither is there.
    """
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise SetupError(f"the {name} folder of the program is missing", hint="install sandbox-runner again")
