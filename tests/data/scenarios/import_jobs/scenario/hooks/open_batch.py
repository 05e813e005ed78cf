"""Opens a batch for the customers of a file. The last line says what was opened, and who imports what."""

import csv
import json
import os
import sys

from asking import ask

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    customers = list(csv.DictReader(file))
status, answer = ask("POST", "/batches", {"customers": [each["customer"] for each in customers]})
if status != 201:
    sys.exit(f"the batch was not opened: {status}")
print(f"opened {answer['batch']} for {os.environ['LT_RUN_ID']}")
pool = [{"customer": each["customer"], "lines": each["lines"].split(";")} for each in customers]
print(json.dumps({"batch": answer["batch"], "pool": pool}))
