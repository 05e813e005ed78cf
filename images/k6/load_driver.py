"""Starts the load driver in its image: ``python3 -I -S -B /opt/runner/driver/load_driver.py FOLDER``."""

import importlib
import sys

# Nothing but the standard library and our own package is to be found.
sys.path.insert(0, "/opt/runner/driver")

sys.exit(importlib.import_module("runner.load_driver.main").main(sys.argv))
