"""The door: a scenario directory, read and checked as a stranger's."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runner.errors import InputError, ReportError, UsageError, printable
from runner.load.job import HELPER, Hooks, Observation, OwnedHttp
from runner.resources import data_dir
from runner.scenarios.budget import check_budgets, engine_seconds, hook_seconds, maxima_of
from runner.scenarios.digest import scenario_sha256
from runner.scenarios.files import check_directory, inside, read_inside
from runner.scenarios.imports import Closure, follow_imports
from runner.scenarios.loose import first_of, loose_types
from runner.scenarios.manifest import Manifest, ObservationModel, normal_origin, token_variable
from runner.scenarios.model import Actor, Budgets, Journey, JwtRecipe, Scenario
from runner.scenarios.schedule import planned
from runner.sources.jsontext import parse_json, refuse_duplicates

MANIFEST = "manifest.json"
MAX_MANIFEST = 4 << 20


def load_scenario(directory: str | os.PathLike[str], seed: int = 0) -> Scenario:
    """Read and check it, and resolve its schedule for a seed. Nothing of it is run.

    Raises InputError, in one line that names file, field and rule, and UsageError for a seed that is none.
    """
    if abs(seed) >= 1 << 53:
        raise UsageError(f"--seed {seed}: expected a whole number below 2^53")
    place = Path(os.path.expanduser(os.fspath(directory)))
    check_directory(place)
    raw = _document(place)
    manifest = _checked(raw)
    try:
        schedule, base = manifest.schedule.resolve(seed), manifest.schedule.resolve(0)
    except ValueError as error:
        raise InputError(f"{MANIFEST}: schedule: {error}") from None
    most = maxima_of(manifest, sum(phase.seconds for phase in base), planned(base))
    check_budgets(manifest, most)
    if inside(place, HELPER) is not None:
        raise InputError(f"{HELPER}: this name is the runtime helper's own", hint="rename the file")
    closure = follow_imports(place, _script(place, manifest.script, "script"))
    files = _covered(place, manifest, closure)
    journeys = planned(schedule)
    _check_pool(place, manifest, journeys)
    hooks, owned, (setup, teardown) = manifest.fixtures.command, manifest.fixtures.owned_http, hook_seconds(manifest)
    return Scenario(
        directory=place, name=manifest.name, manifest=raw, script=_script(place, manifest.script, "script"),
        helper=closure.helper, actors=_actors(manifest), journeys=_journeys(manifest), assertions=manifest.assertions,
        observer=manifest.observer, budgets=Budgets(**manifest.budgets.model_dump()), seed=seed, schedule=schedule,
        planned_journeys=journeys, maxima=most, engine_seconds=engine_seconds(manifest, most), files=files,
        sha256=scenario_sha256(raw, files), fixture_recipe=manifest.fixtures.recipe,
        owned=OwnedHttp(owned.create_path, owned.delete_path, owned.id_pointer, owned.create_body,
                        owned.bearer_token_env) if owned else None,
        hooks=Hooks(hooks.setup, hooks.teardown, setup, teardown) if hooks else None, pool=manifest.fixtures.pool,
        observations=tuple(_observation(look) for look in manifest.looks),
        listed=manifest.observation is None, allowed_origins=manifest.allowed_origins,
        allowed_origins_env=manifest.allowed_origins_env, environment=tuple(sorted(_names(manifest))),
        secrets=tuple(sorted(_secrets(manifest))), warnings=_warnings(raw, manifest, closure))


def _document(place: Path) -> dict[str, Any]:
    try:
        document = parse_json(read_inside(place, MANIFEST, MAX_MANIFEST))
        refuse_duplicates(document)
        if not isinstance(document.value, dict):
            raise ReportError("must be an object")
        json.dumps(document.value, allow_nan=False)
    except ReportError as error:
        raise InputError(f"{printable(str(place / MANIFEST))}: {error.message}", hint=error.hint) from None
    except ValueError:
        raise InputError(f"{MANIFEST}: has NaN or Infinity, which JSON has not") from None
    return document.value


def _checked(raw: dict[str, Any]) -> Manifest:
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise InputError(f"{MANIFEST}: {printable(where)[:200]}{': ' if where else ''}{printable(said)[:300]}{more}"
                         ) from None


def _script(place: Path, name: str, field: str) -> str:
    found = inside(place, name)
    if found is None:
        raise InputError(f"{MANIFEST}: {field}: {printable(name)[:200]} is not a file of the scenario",
                         hint="name a file inside the scenario's directory")
    return found


def _covered(place: Path, manifest: Manifest, closure: Closure) -> dict[str, str]:
    """What LiteTraffic's digest covers, by name."""
    names = set(closure.scripts)
    fixtures = manifest.fixtures
    names |= {_script(place, fixtures.pool, "fixtures.pool")} if fixtures.pool else set()
    if fixtures.command is not None:
        names |= {_script(place, name, "fixtures.command.inputs") for name in fixtures.command.inputs}
        words = (inside(place, word) for word in (*fixtures.command.setup, *fixtures.command.teardown)
                 if not word.startswith("/") and "\0" not in word)
        names |= {word for word in words if word is not None}
    files = {name: sha256(read_inside(place, name)).hexdigest() for name in names}
    if closure.helper:
        files[HELPER] = sha256((data_dir("images") / "k6" / "runtime.js").read_bytes()).hexdigest()
    return files


def _check_pool(place: Path, manifest: Manifest, journeys: int) -> None:
    pool = manifest.fixtures.pool
    if pool is None:
        return
    try:
        items = parse_json(read_inside(place, pool)).value
    except ReportError as error:
        raise InputError(f"{printable(pool)}: {error.message}", hint=error.hint) from None
    if not isinstance(items, list) or len(items) < journeys:
        count = f"{len(items)} items" if isinstance(items, list) else "no array"
        raise InputError(f"{printable(pool)}: has {count}, and {journeys} journeys need one each")


def _actors(manifest: Manifest) -> tuple[Actor, ...]:
    return tuple(Actor(actor.actor_class, actor.count, token_variable(actor.actor_class), actor.auth_recipe,
                       JwtRecipe(actor.auth.secret_env, actor.auth.claims, actor.auth.ttl_seconds,
                                 actor.auth.per_identity) if actor.auth else None) for actor in manifest.actors)


def _journeys(manifest: Manifest) -> tuple[Journey, ...]:
    return tuple(Journey(**journey.model_dump()) for journey in manifest.journeys)


def _observation(look: ObservationModel) -> Observation:
    return Observation(
        assertion=look.assertion, path=look.path, expected=look.expected, token_env=look.bearer_token_env,
        headers_env=tuple(look.headers_env.items()), origin=normal_origin(look.origin) if look.origin else None,
        origin_env=look.origin_env, deadline_seconds=look.until.deadline_seconds if look.until else None,
        interval_seconds=look.until.interval_seconds if look.until else None)


def _secrets(manifest: Manifest) -> set[str]:
    """Variables whose values are nobody's business."""
    owned = manifest.fixtures.owned_http
    tokens = [look.bearer_token_env for look in manifest.looks] + [owned.bearer_token_env if owned else None]
    headers = [name for look in manifest.looks for name in look.headers_env.values()]
    keys = [actor.auth.secret_env for actor in manifest.actors if actor.auth]
    return {name for name in (*manifest.secret_env, *keys, *headers, *tokens)
            if name is not None and not _is_minted(manifest, name)}


def _names(manifest: Manifest) -> set[str]:
    origins = {look.origin_env for look in manifest.looks} | {manifest.allowed_origins_env}
    return _secrets(manifest) | {name for name in origins if name is not None}


def _is_minted(manifest: Manifest, name: str) -> bool:
    """Tokens are made for each run; nobody gives them."""
    return any(name == f"LT_TOKEN_{token_variable(actor.actor_class)}" for actor in manifest.actors if actor.auth)


def _warnings(raw: dict[str, Any], manifest: Manifest, closure: Closure) -> tuple[str, ...]:
    repeated = sorted({name for name in manifest.assertions if manifest.assertions.count(name) > 1})
    return (*first_of(loose_types(raw, manifest.model_dump())),
            *(f"assertions: {name} is listed twice" for name in repeated),
            *(f"{name}: opens a file by a computed name, which nobody can follow" for name in closure.computed))
