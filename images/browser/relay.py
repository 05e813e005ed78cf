#!/usr/bin/python3 -ISB
"""Stands in for the Node.js that Playwright starts: hands bytes to and from the one that runs already."""

import os
import select

to_server, from_server = os.environ["RUNNER_RELAY"].split()
ways = {0: os.open(to_server, os.O_WRONLY), os.open(from_server, os.O_RDONLY): 1}
poll = select.poll()
for source in ways:
    poll.register(source, select.POLLIN)
while True:
    for source, _ in poll.poll():
        data = os.read(source, 1 << 16)
        if not data:
            os._exit(0)
        while data:
            data = data[os.write(ways[source], data):]
