"""Starts the driver in its image: ``python3 -I -S -B /opt/runner/driver/driver.py FOLDER``."""

import importlib
import sys

# Nothing but the standard library, our own package and the wheels is to be found.
sys.path.insert(0, "/opt/runner/site-packages")
sys.path.insert(0, "/opt/runner/driver")

sys.exit(importlib.import_module("runner.driver.main").main(sys.argv))
