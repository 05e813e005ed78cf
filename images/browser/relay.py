#!/usr/bin/python3 -ISB
"""Stands in for the Node.js that Playwright starts: hands bytes to and from the one that runs already."""

import os
import select


def relay(to_server: int, from_server: int) -> None:
    """Until either end is closed."""
    ways = {0: to_server, from_server: 1}
    poll = select.poll()
    for source in ways:
        poll.register(source, select.POLLIN)
    while True:
        for source, _ in poll.poll():
            data = os.read(source, 1 << 16)
            if not data:
                return
            while data:
                data = data[os.write(ways[source], data):]


if __name__ == "__main__":
    sink, spring = os.environ["RUNNER_RELAY"].split()
    relay(os.open(sink, os.O_WRONLY), os.open(spring, os.O_RDONLY))
    os._exit(0)
