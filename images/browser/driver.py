"""Starts the driver in its image: ``python3 -I -S -B /opt/runner/driver/driver.py FOLDER``.

Playwright's other half is a program of Node.js, which takes as long to start as all that Python has to load here. So it
is started first, and Playwright finds ``relay.py`` where it looks for a Node.js to start.
"""

import importlib
import os
import sys

PACKAGES = "/opt/runner/site-packages"
SERVER = f"{PACKAGES}/playwright/driver"

from_us, to_server = os.pipe()
from_server, to_us = os.pipe()
# What the server prints could quote a page.
nowhere = os.open(os.devnull, os.O_WRONLY)
os.posix_spawn(f"{SERVER}/node", [f"{SERVER}/node", f"{SERVER}/package/cli.js", "run-driver"],
               {**os.environ, "PW_LANG_NAME": "python"},
               file_actions=[(os.POSIX_SPAWN_DUP2, from_us, 0), (os.POSIX_SPAWN_DUP2, to_us, 1),
                             (os.POSIX_SPAWN_DUP2, nowhere, 2)])
for end in (from_us, to_us, nowhere):
    os.close(end)
os.environ["PLAYWRIGHT_NODEJS_PATH"] = "/opt/runner/driver/relay.py"
os.environ["RUNNER_RELAY"] = f"/proc/{os.getpid()}/fd/{to_server} /proc/{os.getpid()}/fd/{from_server}"

# Nothing but the standard library, our own package and the wheels is to be found.
sys.path.insert(0, PACKAGES)
sys.path.insert(0, "/opt/runner/driver")

sys.exit(importlib.import_module("runner.driver.main").main(sys.argv))
