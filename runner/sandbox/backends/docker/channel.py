"""The byte channel between a steward client and its container."""

from __future__ import annotations

from runner.errors import StewardLost, printable
from runner.sandbox.backends.docker.attach import STDOUT, Attachment
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline

_SILENCE_SECONDS = 120.0
_COMPLAINT_BYTES = 2000


class StewardChannel:
    """Implements ``runner.sandbox.steward.Channel`` over an attachment."""

    def __init__(self, attachment: Attachment, cancel: Cancel) -> None:
        self._attachment = attachment
        self._cancel = cancel
        self._buffer = bytearray()
        self._complaint = bytearray()

    def send(self, data: bytes) -> None:
        """Write a request. Raises StewardLost."""
        try:
            self._attachment.send(data)
        except OSError as error:
            raise self._lost("closed its input") from error

    def receive(self, size: int) -> bytes:
        """Exactly ``size`` bytes. Raises StewardLost when it ends, or says nothing for two minutes."""
        while len(self._buffer) < size:
            self._more()
        wanted = bytes(self._buffer[:size])
        del self._buffer[:size]
        return wanted

    def _more(self) -> None:
        silence = Deadline.after(_SILENCE_SECONDS)
        if not self._attachment.wait_readable(silence, self._cancel.fileno()):
            raise self._lost("was told to stop" if self._cancel.thrown else "fell silent")
        pieces = self._attachment.read()
        if pieces is None:
            raise self._lost("ended")
        for stream, data in pieces:
            if stream == STDOUT:
                self._buffer += data
            else:
                self._complaint = (self._complaint + data)[-_COMPLAINT_BYTES:]

    def _lost(self, how: str) -> StewardLost:
        lines = printable(bytes(self._complaint).strip().rpartition(b"\n")[2])
        return StewardLost(f"the steward {how}" + (f": {lines}" if lines else ""),
                           hint="its memory or the engine may have run out; `runner doctor` checks the engine")
