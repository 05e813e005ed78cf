"""The program that runs patterns for :mod:`runner.oracles.match`, in a process that may be killed.

Started as ``python -I -S matching_child.py CPU_SECONDS MEMORY_BYTES``; standard library only. It writes one
byte ``R`` when it is ready. Then, until its input ends, it reads requests and answers each one. Integers are
big-endian, text is UTF-8 with surrogates passed through::

    request   u32 number of items, then per item u64 length and its bytes; the first item is the pattern
    answer    K  u64 length, then per text two i64: start and end of the first match, or -1 -1
              E  u64 length, then why the pattern is invalid
              M  u64 0: out of memory; the program then ends
"""

from __future__ import annotations

import re
import resource
import struct
import sys
from typing import BinaryIO


def limit(kind: int, wanted: int) -> None:
    """Lower one resource limit; a smaller one that is there already stays."""
    hard = resource.getrlimit(kind)[1]
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (allowed, allowed))


def read_request(source: BinaryIO) -> list[str]:
    """The next request; empty at the end of input."""
    head = source.read(4)
    if len(head) < 4:
        return []
    return [read_item(source) for _ in range(struct.unpack(">I", head)[0])]


def read_item(source: BinaryIO) -> str:
    """One length-prefixed text."""
    (length,) = struct.unpack(">Q", source.read(8))
    return source.read(length).decode("utf-8", "surrogatepass")


def spans(pattern: str, texts: list[str]) -> bytes:
    """First match in each text."""
    search = re.compile(pattern).search
    found = (search(text) for text in texts)
    return b"".join(struct.pack(">qq", *(match.span() if match else (-1, -1))) for match in found)


def answer(pattern: str, texts: list[str]) -> tuple[bytes, bytes]:
    """Status and payload for one request."""
    try:
        return b"K", spans(pattern, texts)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        return b"E", str(error).encode("utf-8", "surrogatepass")


def main() -> int:
    """Serve until the input ends."""
    limit(resource.RLIMIT_CPU, int(sys.argv[1]))
    limit(resource.RLIMIT_AS, int(sys.argv[2]))
    limit(resource.RLIMIT_CORE, 0)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sink.write(b"R")
    sink.flush()
    try:
        while request := read_request(source):
            status, payload = answer(request[0], request[1:])
            sink.write(status + struct.pack(">Q", len(payload)) + payload)
            sink.flush()
    except MemoryError:
        sink.write(b"M" + bytes(8))
        sink.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
