"""Follow one workload from its release to the end of its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from runner.errors import EngineUnavailable
from runner.sandbox.backends.docker.attach import STDOUT, Attachment
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline, Limit
from runner.sandbox.exit import StopReason
from runner.sandbox.output import OutputPair

_DRAIN_SECONDS = 30.0
MAX_GRACE = 30.0
"""Seconds that a container may be given to end by itself."""
Stops = Mapping[Cancel, StopReason]
"""Switches, and what it means that one is thrown; the first one counts."""


def pump(attachment: Attachment, output: OutputPair, deadline: Limit, stops: Stops,
         kill: Callable[[StopReason], None]) -> StopReason | None:
    """Read to the end of the stream, a cap, the deadline or a switch that is thrown; then kill and drain what is left.

    Returns why *we* stopped it, or ``None`` when it ended by itself. Raises EngineUnavailable when the
    stream does not end although the container was killed.
    """
    switches = tuple(switch.fileno() for switch in stops)
    while True:
        for switch, reason in stops.items():
            if switch.thrown:
                return _stop(reason, attachment, output, kill)
        if deadline.expired:
            return _stop(StopReason.DEADLINE, attachment, output, kill)
        if not attachment.wait_readable(deadline, *switches):
            continue
        if not _feed(attachment, output):
            return None
        if output.over_limit:
            return _stop(StopReason.OUTPUT, attachment, output, kill)


def _feed(attachment: Attachment, output: OutputPair) -> bool:
    pieces = attachment.read()
    if pieces is None:
        return False
    for stream, data in pieces:
        if stream == STDOUT:
            output.feed_stdout(data)
        else:
            output.feed_stderr(data)
    return True


def _stop(reason: StopReason, attachment: Attachment, output: OutputPair,
          kill: Callable[[StopReason], None]) -> StopReason:
    """Kill and drain at once: an engine may answer to a kill only when the output it still holds was taken."""
    with ThreadPoolExecutor(1, thread_name_prefix="kill") as pool:
        killing = pool.submit(kill, reason)
        drain = Deadline.after(MAX_GRACE + _DRAIN_SECONDS)
        while not drain.expired:
            if attachment.wait_readable(drain) and not _feed(attachment, output):
                killing.result()
                return reason
    killing.result()
    raise EngineUnavailable("a killed container's output did not end",
                            hint="the engine may be stuck; `runner gc` removes the container later")
