"""One request to the application under test."""

import json
import os
import urllib.error
import urllib.request


def ask(method, path, document=None):
    """The answer's status and JSON."""
    body = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(os.environ["LT_TARGET"] + path, data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as answer:
        return answer.code, {}
