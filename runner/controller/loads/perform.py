"""The straight line of a load run: a scenario and an application go in, a verdict and evidence come out."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path

from runner.controller.bounds import seal_limits
from runner.controller.line import UNWATCHED, Gathered, Progress, Replayed, cleanup_after, cut_short, run_all
from runner.controller.loads.document import (
    LoadFindings,
    LoadFound,
    load_opening,
    load_result,
    started_record,
)
from runner.controller.loads.files import Moments, files_of
from runner.controller.loads.judging import LoadJudge, load
from runner.controller.loads.request import SettledLoad
from runner.controller.loads.staging import staged
from runner.controller.loads.tokens import mint
from runner.controller.records import fingerprint_record, moment
from runner.errors import ExitCode, PayloadChanged, RunnerError
from runner.evidence.database import store_root
from runner.evidence.files import check_outside
from runner.evidence.mask import Masker
from runner.evidence.session_record import FileRecord
from runner.evidence.store import RunDirectory, new_run_id, place_of_run
from runner.evidence.verdict import Verdict, VerdictKind
from runner.load.outcome import OUTPUT_FOLDER
from runner.payload.seal import SealedPayload, check_unchanged, seal
from runner.sandbox.backends import open_pair_backend
from runner.sandbox.backends.base import PairBackend, Plan, Session
from runner.sandbox.image import ResolvedImage

DRIVER_ARGV = ("/usr/bin/python3", "-I", "-S", "-B", "/opt/runner/driver/load_driver.py", "/workspace")
ARTIFACTS_FILE = "artifacts.json"
_EXIT_CODES = {"pass": ExitCode.OK, "fail": ExitCode.NOT_REPRODUCED, "inconclusive": ExitCode.NO_VERDICT,
               "error": ExitCode.NO_VERDICT}

_GRACE = 20.0
"""Seconds to clean up in, after an interrupt: 4 s for k6 to end, 5 s for a request, the rest for a teardown."""

Pairs = tuple[tuple[str, str], ...]


def verify_scenario(settled: SettledLoad, *, out: Path | None = None, progress: Progress = UNWATCHED,
                    backend: PairBackend | None = None) -> Replayed:
    """Run it once. Raises RunnerError before anything ran; a fault later is in the outcome."""
    started, run_id = datetime.now(UTC), new_run_id()
    place = _checked_place(settled, run_id, out)
    tokens = mint(settled.scenario.actors, dict(settled.env), run_id)
    env = (*settled.env, *tokens)
    with ExitStack() as stack:
        backend = backend or open_pair_backend()
        facts = backend.probe()
        image = None if settled.command is None else backend.resolve_image(settled.image)
        driver_image = backend.own_image("k6")
        job = stack.enter_context(staged(settled, run_id, tuple(name for name, _ in env)))
        sealed = job if settled.payload is None else seal(settled.payload, seal_limits(settled.policy))
        masker = _masker(settled, tokens)
        directory = stack.enter_context(RunDirectory(load_opening(settled, run_id, started, place), masker))
        directory.write("manifest.txt", sealed.manifest.render(exact=True))
        directory.begin(("replay.started", started_record(settled, image, driver_image)),
                        ("payload.sealed", fingerprint_record(sealed.fingerprint).model_dump()))
        judge = LoadJudge(settled, run_id)
        runs = Gathered(judge.judge, directory, replace(progress, running=lambda: _meanwhile(progress)), facts)
        driving = _driver_plan(settled, driver_image, env)
        opened = _session(backend, settled, image, sealed, driving, job)
        fault = run_all(opened, driving, runs, partial(check_unchanged, sealed))
        made = LoadFindings(run_id, started, place, runs.facts, image, driver_image, driving, sealed,
                            seal(settled.scenario.directory, seal_limits(settled.driver_policy)).fingerprint,
                            runs.in_order(), found=judge.found)
        made = _concluded(made, fault)
        if judge.found is not None:
            when = Moments(moment(started), moment(datetime.now(UTC)))
            named = files_of(settled, run_id, when, judge.found.outcome, judge.left, judge.events, judge.found.metrics)
            made = replace(made, files=_written(directory, masker, run_id, named))
        return Replayed(directory.finish(load_result(settled, made, datetime.now(UTC))), directory.path, fault)


def _meanwhile(progress: Progress) -> None:
    progress.running()
    load()


def _concluded(made: LoadFindings, fault: RunnerError | None) -> LoadFindings:
    if fault is not None:
        return replace(made, verdict=cut_short(fault), error=fault.message, cleanup=cleanup_after(fault),
                       payload_unchanged=not isinstance(fault, PayloadChanged))
    return replace(made, verdict=verdict_of(made.found)) if made.found is not None else made


def verdict_of(found: LoadFound) -> Verdict:
    """The verdict in the evidence's words, with the exit code of the one table."""
    judgement = found.judgement
    return Verdict(VerdictKind(judgement.verdict), _EXIT_CODES[judgement.verdict], judgement.reasons)


def _written(directory: RunDirectory, masker: Masker, run_id: str, named: dict[str, bytes]) -> tuple[FileRecord, ...]:
    """Write the run's files, masked, and the list of them."""
    records = []
    for name, data in named.items():
        kept, _ = masker.data(data)
        directory.write(name, kept)
        records.append(FileRecord(name=name, bytes=len(kept), sha256=sha256(kept).hexdigest()))
    listing = {"schema_version": 1, "run_id": run_id, "total_bytes": sum(record.bytes for record in records),
               "files": [{"path": record.name, "bytes": record.bytes, "sha256": record.sha256} for record in records]}
    raw = (json.dumps(listing, indent=2, sort_keys=True) + "\n").encode()
    directory.write(ARTIFACTS_FILE, raw)
    return (*records, FileRecord(name=ARTIFACTS_FILE, bytes=len(raw), sha256=sha256(raw).hexdigest()))


def _masker(settled: SettledLoad, tokens: Pairs) -> Masker:
    """Declared secrets whatever they are called, minted tokens one by one, and what a name gives away."""
    secrets = set(settled.scenario.secrets)
    declared = [(f"SECRET {name}", value) for name, value in settled.env if name in secrets]
    minted = [("TOKEN", text) for name, value in tokens
              for text in (json.loads(value) if name.startswith("LT_TOKENS_") else [value])]
    return Masker((*settled.env, *settled.application_env, *declared, *minted))


def _checked_place(settled: SettledLoad, run_id: str, out: Path | None) -> Path:
    """Where the evidence goes: neither into the payload nor into the scenario. Raises UsageError."""
    place = place_of_run(run_id, out)
    for whose in filter(None, (settled.payload, str(settled.scenario.directory))):
        check_outside(place, whose, "choose a place outside with --out")
        check_outside(store_root(), whose,
                      "call runner from outside of it, or set RUNNER_STORE to a directory elsewhere")
    return place


def _driver_plan(settled: SettledLoad, image: ResolvedImage, env: Pairs) -> Plan:
    # What was made in an application that goes on running is removed, also if somebody loses patience.
    scenario = settled.scenario
    makes = settled.network != "none" and (scenario.owned is not None or scenario.hooks is not None)
    return Plan(argv=DRIVER_ARGV, cwd=".", env=env, policy=settled.driver_policy, timeout=settled.times.in_all, runs=1,
                jobs=1, ahead=0, image=image, artifacts=(f"{OUTPUT_FOLDER}/**",), network=settled.network,
                grace=_GRACE if makes else 0.0)


def _session(backend: PairBackend, settled: SettledLoad, image: ResolvedImage | None, sealed: SealedPayload,
             driving: Plan, job: SealedPayload) -> AbstractContextManager[Session]:
    """The application's container beside the driver's, or the driver's alone."""
    if settled.command is None:
        return backend.open(driving, job)
    target = replace(driving, argv=settled.command.command_line, cwd=settled.command.cwd, env=settled.application_env,
                     policy=settled.policy, image=image, artifacts=(), shell_speaks=settled.command.shell_speaks)
    return backend.open_pair(target, sealed, driving, job, settled.times)
