"""The entries of a bundle's tar stream."""

from __future__ import annotations

from runner.bundle.frame import Frame
from runner.bundle.rules import refused
from runner.errors import PayloadRefused
from runner.payload.tar import read_header
from runner.payload.tree import Entry


def next_entry(frame: Frame) -> Entry | None:
    """The next header; ``None`` at the end of the archive. Raises BundleRefused, rule ``not_canonical`` for one."""
    try:
        return read_header(frame.read)
    except PayloadRefused as error:
        raise refused("not_canonical", error.message.rpartition(": ")[2]) from None
