"""A fixture that the run makes by a POST, and removes by a DELETE."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from runner.load.job import OwnedHttp
from runner.load.pointer import at_pointer
from runner.load_driver.client import Answer, Client, NoAnswer

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class FixtureFailed(Exception):
    """It could not be made, or removed; the message is one sentence. ``left``: something may be there all the same."""

    def __init__(self, message: str, *, left: bool = False) -> None:
        super().__init__(message)
        self.left = left


def create(client: Client, target: str, owned: OwnedHttp, env: Mapping[str, str]) -> str:
    """Make it; its ID. Raises FixtureFailed."""
    body = json.dumps(owned.create_body, separators=(",", ":")).encode()
    headers = {"Content-Type": "application/json", **_bearer(owned, env)}
    sent = len(client.counted)
    try:
        answer = client.ask("POST", target + owned.create_path, headers, body)
    except NoAnswer as error:
        raise FixtureFailed(f"the fixture was not made: POST {owned.create_path}: {error}",
                            left=len(client.counted) > sent) from None
    if answer.status not in (200, 201):
        raise FixtureFailed(f"the fixture was not made: POST {owned.create_path} answered {answer.status}")
    return _id_in(answer, owned)


def _id_in(answer: Answer, owned: OwnedHttp) -> str:
    try:
        found = at_pointer(answer.json(), owned.id_pointer)
    except NoAnswer as error:
        raise FixtureFailed(f"the fixture has no ID: {error}", left=True) from None
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise FixtureFailed(f"the fixture has no usable ID at {owned.id_pointer} of the answer", left=True)
    return found


def delete(client: Client, target: str, owned: OwnedHttp, fixture_id: str, env: Mapping[str, str]) -> None:
    """Remove it. Raises FixtureFailed."""
    path = owned.delete_path.replace("{fixture_id}", fixture_id)
    try:
        status = client.ask("DELETE", target + path, _bearer(owned, env)).status
    except NoAnswer as error:
        raise FixtureFailed(f"the fixture was not removed: DELETE {path}: {error}", left=True) from None
    if status not in (200, 204):
        raise FixtureFailed(f"the fixture was not removed: DELETE {path} answered {status}", left=True)


def _bearer(owned: OwnedHttp, env: Mapping[str, str]) -> dict[str, str]:
    if owned.token_env is None:
        return {}
    if not env.get(owned.token_env):
        raise FixtureFailed(f"the variable {owned.token_env} was not given")
    return {"Authorization": f"Bearer {env[owned.token_env]}"}
