"""The attached stdin, stdout and stderr of one container: raw frames in, raw bytes out.

Attach happens before start, so nothing is lost. Stdin is the leash: when it is closed, or when this process
dies, the container's init (or the steward) ends everything in it.
"""

from __future__ import annotations

import select
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import docker

from runner.errors import EngineUnavailable, printable
from runner.sandbox.deadline import Limit

STDOUT: Final = 1
STDERR: Final = 2
_HEADER = struct.Struct(">BxxxL")
_BUFFER = 1 << 20
_RECORD_SECONDS = 60.0


class Attachment:
    """One duplex stream. Reading is done by one thread at a time; ``close`` may come from any."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._wrapper: Any = api.attach_socket(container, params=params)
        self._socket: socket.socket = getattr(self._wrapper, "_sock", self._wrapper)
        # A read waits for the rest of a TLS record only: data is known to be there.
        self._socket.settimeout(_RECORD_SECONDS if isinstance(self._socket, ssl.SSLSocket) else None)
        self._buffer = bytearray(_BUFFER)
        self._frames = FrameReader()
        self._poll = select.poll()
        self._poll.register(self._socket.fileno(), select.POLLIN)

    def send(self, data: bytes) -> None:
        """Write to the container's stdin."""
        self._socket.sendall(data)

    def wait_readable(self, deadline: Limit, *wake_fds: int) -> bool:
        """Whether data or end-of-stream is there before the deadline; a readable ``wake_fds`` ends the wait."""
        pending = getattr(self._socket, "pending", None)
        if pending is not None and pending():
            return True
        poll = self._poll
        if wake_fds:
            poll = select.poll()
            for descriptor in (self._socket.fileno(), *wake_fds):
                poll.register(descriptor, select.POLLIN)
        ready = poll.poll(int(deadline.remaining() * 1000) + 1)
        return any(fd == self._socket.fileno() for fd, _ in ready)

    def read(self) -> list[tuple[int, memoryview]] | None:
        """The next pieces as (stream, bytes), valid until the next call; ``None`` at end of stream.

        Raises EngineUnavailable when a network between us and the engine fails.
        """
        try:
            count = self._socket.recv_into(self._buffer)
        except ConnectionResetError:
            return None
        except OSError as error:
            raise EngineUnavailable(f"the stream of a container broke: {printable(str(error))[:200]}",
                                    hint="the network to the engine may be down; `runner doctor` checks it") from error
        if count == 0:
            return None
        return list(self._frames.feed(memoryview(self._buffer)[:count]))

    def slip_leash(self) -> None:
        """End the container's stdin: everything in it is killed by its own PID 1."""
        with suppress(OSError):  # closed already: the leash is slipped
            self._shut(socket.SHUT_WR)

    def _shut(self, how: int) -> None:
        """Of the connection below any TLS: its own shutdown would forget the keys, and what still comes could not be
        read. An engine takes the bare end of a connection for the end of stdin, as from Docker's own client.
        """
        socket.socket.shutdown(self._socket, how)

    def close(self) -> None:
        """Close the stream; the response first, so that the SDK's connection is not left behind."""
        with suppress(OSError):  # the other side may have been first
            self._shut(socket.SHUT_RDWR)
        response = getattr(self._wrapper, "_response", None)
        if response is not None:
            response.close()
        self._wrapper.close()
        self._socket.close()


class FrameReader:
    """Splits the engine's multiplexed stream (Docker Engine API, *attach*): an 8-byte header, then bytes."""

    def __init__(self) -> None:
        self._stream = 0
        self._left = 0
        self._header = bytearray()

    def feed(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        """Yield (stream, piece) for all that is in ``data``; frames may span calls."""
        position, size = 0, len(data)
        while position < size:
            if self._left == 0:
                position += self._take_header(data[position:])
                continue
            piece = data[position:position + self._left]
            position += len(piece)
            self._left -= len(piece)
            yield self._stream, piece

    def _take_header(self, data: memoryview) -> int:
        wanted = _HEADER.size - len(self._header)
        self._header += data[:wanted]
        if len(self._header) == _HEADER.size:
            self._stream, self._left = _HEADER.unpack(self._header)
            self._header.clear()
            if self._stream not in (STDOUT, STDERR):
                raise EngineUnavailable(f"the engine sent a frame of unknown stream {self._stream}",
                                        hint="is something between us and the engine changing the stream?")
        return min(wanted, len(data))
