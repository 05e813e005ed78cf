"""Names of files as the exports write them: what means something on another machine. Pure."""

from __future__ import annotations


def file_name(path: str) -> str:
    """The last part of a path: all of it that means something elsewhere."""
    return path.rstrip("/").rpartition("/")[2] or "."


def operand(path: str) -> str:
    """The last part of a path as a word of a command line: never to be taken for an option."""
    name = file_name(path)
    return f"./{name}" if name.startswith("-") else name
