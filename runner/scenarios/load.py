"""The door: a scenario directory, read and checked as a stranger's."""

from __future__ import annotations

import json
import os
import posixpath
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.errors import InputError, ReportError, UsageError, printable
from runner.load.job import HELPER, Hooks, Observation, OwnedHttp, Phase
from runner.resources import data_dir
from runner.scenarios.budget import check_budgets, engine_seconds, hook_seconds, maxima_of
from runner.scenarios.digest import scenario_sha256
from runner.scenarios.environment import environment_of, secrets_of, warnings_of
from runner.scenarios.files import check_directory, inside, is_there, read_inside, real_directory
from runner.scenarios.imports import follow_imports
from runner.scenarios.manifest import Manifest, ObservationModel, token_variable
from runner.scenarios.model import Actor, Budgets, Journey, JwtRecipe, Scenario
from runner.scenarios.refusals import checked_manifest
from runner.scenarios.schedule import planned
from runner.sources.jsontext import parse_json, refuse_duplicates

MANIFEST = "manifest.json"
MAX_MANIFEST = 4 << 20
MAX_SEED = 1 << 53
"""Beyond it a number is not the same in a script."""


def load_scenario(directory: str | os.PathLike[str], seed: int = 0) -> Scenario:
    """Read and check it, and resolve its schedule for a seed. Nothing of it is run.

    Raises InputError, in one line that names file, field and rule, and UsageError for a seed that is none.
    """
    if abs(seed) >= MAX_SEED:
        raise UsageError("--seed: expected a whole number below 2^53")
    root = real_directory(directory)
    try:
        check_directory(root)
        return _loaded(root, seed)
    except InputError as error:
        raise InputError(f"{printable(os.fspath(directory)).rstrip('/')}/{error.message}", hint=error.hint) from None


def _loaded(root: Path, seed: int) -> Scenario:
    raw = _document(root)
    manifest = checked_manifest(raw)
    schedule, base = (_resolved(manifest, value) for value in (seed, 0))
    most = maxima_of(manifest, sum(phase.seconds for phase in base), planned(base))
    check_budgets(manifest, most)
    _check_reserved(root)
    script = _own_name(root, manifest.script, "script")
    closure = follow_imports(root, script)
    pool = _own_name(root, manifest.fixtures.pool, "fixtures.pool") if manifest.fixtures.pool else None
    if pool is not None:
        _check_pool(root, pool, planned(schedule))
    files = _covered(root, manifest, {*closure.scripts} | ({pool} if pool else set()), helper=closure.helper)
    return Scenario(
        directory=root, name=manifest.name, manifest=raw, script=script, helper=closure.helper,
        actors=_actors(manifest), journeys=_journeys(manifest), assertions=manifest.assertions,
        observer=manifest.observer, budgets=Budgets(**manifest.budgets.model_dump()), seed=seed, schedule=schedule,
        planned_journeys=planned(schedule), maxima=most, engine_seconds=engine_seconds(manifest, most), files=files,
        sha256=scenario_sha256(raw, files), fixture_recipe=manifest.fixtures.recipe, owned=_owned(manifest),
        hooks=_hooks(manifest), pool=pool, observations=tuple(_observation(look) for look in manifest.looks),
        listed=manifest.observation is None, allowed_origins=manifest.allowed_origins,
        allowed_origins_env=manifest.allowed_origins_env, environment=tuple(sorted(environment_of(manifest))),
        secrets=tuple(sorted(secrets_of(manifest))), warnings=warnings_of(raw, manifest, closure))


def _resolved(manifest: Manifest, seed: int) -> tuple[Phase, ...]:
    try:
        return manifest.schedule.resolve(seed)
    except ValueError as error:
        raise InputError(f"{MANIFEST}: schedule: {error}", hint="change its seconds or rates") from None


def _document(root: Path) -> dict[str, Any]:
    name = inside(root, MANIFEST)
    try:
        document = parse_json(read_inside(root, name or MANIFEST, MAX_MANIFEST))
        refuse_duplicates(document)
        if not isinstance(document.value, dict):
            raise ReportError("is no object", hint="a manifest starts with {")
        json.dumps(document.value, allow_nan=False)
    except ReportError as error:
        raise InputError(f"{MANIFEST}: {error.message}", hint=error.hint) from None
    except ValueError:
        raise InputError(f"{MANIFEST}: has NaN or Infinity, which JSON has not", hint="write a number") from None
    return document.value


def _check_reserved(root: Path) -> None:
    folder = posixpath.dirname(HELPER)
    if is_there(root, HELPER):
        raise InputError(f"{HELPER}: this name is the runtime helper's own", hint="rename the file")
    if is_there(root, folder) and ((root / folder).is_symlink() or not (root / folder).is_dir()):
        raise InputError(f"{folder}: must be a directory, because the runtime helper is put there", hint="rename it")


def _own_name(root: Path, name: str, field: str) -> str:
    found = inside(root, name)
    if found is None:
        raise InputError(f"{MANIFEST}: {field}: {printable(name)[:200]} is not a file of the scenario",
                         hint="name a file inside the scenario's directory")
    return found


def _covered(root: Path, manifest: Manifest, names: set[str], *, helper: bool) -> dict[str, str]:
    """What LiteTraffic's digest covers, by name."""
    command = manifest.fixtures.command
    if command is not None:
        names |= {_own_name(root, name, "fixtures.command.inputs") for name in command.inputs}
        words = (inside(root, word) for word in (*command.setup, *command.teardown))
        names |= {word for word in words if word is not None}
    files = {name: sha256(read_inside(root, name)).hexdigest() for name in names}
    if helper:
        files[HELPER] = sha256((data_dir("images") / "k6" / "runtime.js").read_bytes()).hexdigest()
    return files


def _check_pool(root: Path, pool: str, journeys: int) -> None:
    try:
        items = parse_json(read_inside(root, pool)).value
        json.dumps(items, allow_nan=False)
    except ReportError as error:
        raise InputError(f"{printable(pool)}: {error.message}", hint=error.hint) from None
    except ValueError:
        raise InputError(f"{printable(pool)}: has NaN or Infinity, which JSON has not", hint="write a number") from None
    if not isinstance(items, list) or len(items) < journeys:
        has = f"has {len(items)} items" if isinstance(items, list) else "is no array"
        raise InputError(f"{printable(pool)}: {has}, and {journeys} journeys need one item each",
                         hint="add items, or make the schedule smaller")


def _actors(manifest: Manifest) -> tuple[Actor, ...]:
    return tuple(Actor(actor.actor_class, actor.count, token_variable(actor.actor_class), actor.auth_recipe,
                       JwtRecipe(actor.auth.secret_env, actor.auth.claims, actor.auth.ttl_seconds,
                                 actor.auth.per_identity) if actor.auth else None) for actor in manifest.actors)


def _journeys(manifest: Manifest) -> tuple[Journey, ...]:
    return tuple(Journey(**journey.model_dump()) for journey in manifest.journeys)


def _owned(manifest: Manifest) -> OwnedHttp | None:
    owned = manifest.fixtures.owned_http
    return OwnedHttp(owned.create_path, owned.delete_path, owned.id_pointer, owned.create_body,
                     owned.bearer_token_env) if owned is not None else None


def _hooks(manifest: Manifest) -> Hooks | None:
    hooks = manifest.fixtures.command
    return Hooks(hooks.setup, hooks.teardown, *hook_seconds(manifest)) if hooks is not None else None


def _observation(look: ObservationModel) -> Observation:
    return Observation(
        assertion=look.assertion, path=look.path, expected=look.expected, token_env=look.bearer_token_env,
        headers_env=tuple(look.headers_env.items()), origin=look.origin,
        origin_env=look.origin_env, deadline_seconds=look.until.deadline_seconds if look.until else None,
        interval_seconds=look.until.interval_seconds if look.until else None)
