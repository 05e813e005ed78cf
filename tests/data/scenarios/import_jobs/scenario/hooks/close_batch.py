"""Closes what was opened, if anything was."""

import json
import os
import sys

from asking import ask

opened = json.loads(os.environ.get("LT_FIXTURE_JSON", "{}"))
if "batch" in opened:
    status, _ = ask("DELETE", f"/batches/{opened['batch']}")
    if status != 200:
        sys.exit(f"the batch was not closed: {status}")
