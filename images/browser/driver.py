"""Starts the driver in its image: ``python3 -I -S -B /opt/runner/driver/driver.py FOLDER``."""

import sys

# Nothing but the standard library, our own package and the wheels beside it is to be found.
sys.path[:0] = ["/opt/runner/driver", "/opt/runner/site-packages"]

from runner.driver.main import main  # noqa: E402 - found only now

sys.exit(main(sys.argv))

