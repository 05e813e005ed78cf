"""Types of a manifest's fields, as LiteTraffic's schema has them (``schema_version`` 1)."""

from __future__ import annotations

import re
import string
from typing import Annotated
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MAX_NUMBER = 10**9
"""No count, rate or number of seconds is larger; LiteTraffic has no bound."""


class Strict(BaseModel):
    """Unknown keys are refused at every level; types are as lax as LiteTraffic's, and told (:mod:`.loose`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _absolute(path: str) -> str:
    if not path.startswith("/") or path.startswith("//"):
        raise ValueError("must start with one slash, such as /orders")
    if "#" in path:
        raise ValueError("must not have a fragment")
    if not path.isprintable():
        raise ValueError("must not have control characters")
    return path


def _without_query(path: str) -> str:
    if "?" in path:
        raise ValueError("must not have a query")
    return path


def _on_the_wire(path: str) -> str:
    """Spaces and letters beyond ASCII as percent escapes, all else as it is written."""
    return quote(path, safe=string.punctuation)


def _delete_path(path: str) -> str:
    parts = path.split("/")
    if any(mark in path for mark in "?#%"):
        raise ValueError("must not have any of ? # %")
    if any(part in (".", "..") for part in parts):
        raise ValueError("must not have . or .. as a part")
    if parts[-1] != "{fixture_id}" or path.count("{fixture_id}") != 1:
        raise ValueError("must end with /{fixture_id}, and have it once")
    return path


def _pointer(pointer: str) -> str:
    if pointer and not pointer.startswith("/"):
        raise ValueError("is no JSON Pointer: empty, or starting with a slash")
    return pointer


def _header(name: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}", name):
        raise ValueError("is no name of a header")
    return name


def _inside(path: str) -> str:
    if path.startswith("/") or "\0" in path:
        raise ValueError("must be a path inside the scenario directory")
    return path


Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Positive = Annotated[int, Field(gt=0, le=MAX_NUMBER)]
NotNegative = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Env = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]{0,199}$")]
HttpPath = Annotated[str, AfterValidator(_absolute), AfterValidator(_on_the_wire)]
CreatePath = Annotated[str, AfterValidator(_absolute), AfterValidator(_without_query),
                       AfterValidator(_on_the_wire)]
DeletePath = Annotated[str, AfterValidator(_absolute), AfterValidator(_delete_path),
                       AfterValidator(_on_the_wire)]
Pointer = Annotated[str, AfterValidator(_pointer)]
IdPointer = Annotated[str, Field(min_length=1), AfterValidator(_pointer)]
Header = Annotated[str, AfterValidator(_header)]
Inside = Annotated[str, Field(min_length=1), AfterValidator(_inside)]
Stage = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
