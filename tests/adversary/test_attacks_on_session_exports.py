"""Evidence of a browser session that somebody changed is exported in no format, shown by nothing, and compared with
nothing: exit code 2, the part named, nothing written.

No browser runs here: what is attacked is the run directory, after the session.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from played_sessions import DATA, ITEMS, REPORT, SESSIONS, recorded, replayed

from runner.cli.main import cli
from runner.errors import EvidenceAltered
from runner.evidence.check import Evidence, open_evidence
from runner.reports.formats import FORMATS

NAMES = (*FORMATS,)
JUDGED = "result.json is not the result that the event log ends with"


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_STORE", str(tmp_path_factory.mktemp("store") / "store"))
        yield


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    return {"recorded": recorded(tmp_path_factory.mktemp("recorded"), ITEMS, REPORT),
            "partly": replayed(tmp_path_factory.mktemp("partly"), SESSIONS["partly"])}


def copied(evidence: Evidence, place: Path) -> Path:
    return Path(shutil.copytree(evidence.directory, place / "run"))


def edit(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Written as we would write it, so that only the content is wrong."""
    path = directory / "result.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, sort_keys=True, indent=2) + "\n")


def other_incident(directory: Path) -> None:
    path = directory / "incident.json"
    path.write_bytes(path.read_bytes().replace(b"#pay0", b"#pay9"))


def incident_of_another_session(directory: Path) -> None:
    (directory / "incident.json").write_bytes((DATA / "loki" / "crash" / "incident.json").read_bytes())


def linked_incident(directory: Path) -> None:
    """To the very same bytes: still not a file of the run."""
    shutil.move(directory / "incident.json", directory.parent / "elsewhere")
    (directory / "incident.json").symlink_to(directory.parent / "elsewhere")


def lost_requests(directory: Path) -> None:
    (directory / "network.har").unlink()


def padded_requests(directory: Path) -> None:
    path = directory / "network.har"
    path.write_bytes(path.read_bytes() + b" ")


def video_is_a_pipe(directory: Path) -> None:
    (directory / "replay.webm").unlink()
    os.mkfifo(directory / "replay.webm")


def huge_video(directory: Path) -> None:
    os.truncate(directory / "replay.webm", (1 << 30) + 1)  # sparse


def other_script(directory: Path) -> None:
    (directory / "repro_test.py").write_text("raise SystemExit(1)\n")


def other_picture(directory: Path) -> None:
    (directory / "shot-0.png").write_bytes(b"\x89PNG")


def target_output(directory: Path) -> None:
    path = directory / "target-stderr-1.bin"
    path.write_bytes(path.read_bytes().replace(b"500", b"200"))


def lost_target_output(directory: Path) -> None:
    (directory / "target-stderr-1.bin").unlink()


def failure_gone(directory: Path) -> None:
    edit(directory, lambda result: result["session"].update(failures=result["session"]["failures"][:1]))


def failure_reproduced(directory: Path) -> None:
    edit(directory, lambda result: result["session"]["failures"][1].update(state="reproduced", seen=2))


def sandboxed_browser(directory: Path) -> None:
    edit(directory, lambda result: result["session"]["browser"].update(sandbox="off"))


def other_browser_image(directory: Path) -> None:
    edit(directory, lambda result: result["session"]["driver_image"].update(used_id="sha256:" + "0" * 64))


def wider_browser_policy(directory: Path) -> None:
    edit(directory, lambda result: result["session"]["driver_policy"]["effective"].update(memory=1 << 40))


def file_elsewhere(directory: Path) -> None:
    edit(directory, lambda result: result["session"]["files"][0].update(name="../result.json"))


def file_not_named(directory: Path) -> None:
    edit(directory, lambda result: result["session"].update(files=result["session"]["files"][1:]))


def no_session(directory: Path) -> None:
    """As if it had been a command."""
    edit(directory, lambda result: result.pop("session"))


def step_taken(directory: Path) -> None:
    edit(directory, lambda result: result["samples"][0]["session"]["steps"][2].update(state="missing"))


def other_end_of_the_application(directory: Path) -> None:
    edit(directory, lambda result: result["samples"][0]["target"].update(cause="oom_killed"))


def longer_claim(directory: Path) -> None:
    edit(directory, lambda result: result["session"].update(trust="me"))


Attack = Callable[[Path], None]
RECORDED: dict[Attack, str] = {
    other_incident: "incident.json is not what was kept", incident_of_another_session: "incident.json is not what was",
    linked_incident: "incident.json cannot be read", lost_requests: "network.har cannot be read",
    padded_requests: "network.har is not what was kept", video_is_a_pipe: "replay.webm is not a regular file",
    huge_video: "replay.webm is larger than", other_script: "repro_test.py is not what was kept",
    other_picture: "shot-0.png is not what was kept", file_elsewhere: JUDGED, file_not_named: JUDGED,
}
BOTH: dict[Attack, str] = {
    target_output: "target-stderr-1.bin is not what was kept", lost_target_output: "target-stderr-1.bin cannot be read",
    failure_gone: JUDGED, failure_reproduced: JUDGED, sandboxed_browser: JUDGED, other_browser_image: JUDGED,
    wider_browser_policy: JUDGED, no_session: JUDGED, longer_claim: "result.json does not fit its schema at session.",
    step_taken: JUDGED, other_end_of_the_application: JUDGED,
}
ATTACKS = {**{("recorded", attack): said for attack, said in (RECORDED | BOTH).items()},
           **{("partly", attack): said for attack, said in BOTH.items()}}


@pytest.mark.parametrize(("kind", "attack"), ATTACKS, ids=lambda each: getattr(each, "__name__", each))
def test_an_altered_session_is_exported_in_no_format(pristine: dict[str, Evidence], tmp_path: Path, kind: str,
                                                     attack: Attack) -> None:
    directory = copied(pristine[kind], tmp_path)
    attack(directory)
    for name in NAMES:
        target = tmp_path / "export"
        done = CliRunner().invoke(cli, ["export", str(directory), "--format", name, "-o", str(target)])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), name
        assert ATTACKS[kind, attack] in done.stderr
        assert not target.exists()


@pytest.mark.parametrize("attack", [other_incident, lost_requests, target_output, failure_gone],
                         ids=lambda each: each.__name__)
def test_an_altered_session_is_neither_valid_nor_compared(pristine: dict[str, Evidence], tmp_path: Path,
                                                          attack: Attack) -> None:
    directory = copied(pristine["recorded"], tmp_path)
    attack(directory)
    for words in (["validate", str(directory)], ["diff", str(directory), str(directory)]):
        done = CliRunner().invoke(cli, ["report", *words])
        assert (done.exit_code, done.stdout) == (2, "")
        assert ATTACKS["recorded", attack] in done.stderr


@pytest.mark.parametrize("kind", ["recorded", "partly"])
@pytest.mark.parametrize("name", NAMES)
def test_the_untouched_copy_is_exported(pristine: dict[str, Evidence], tmp_path: Path, kind: str, name: str) -> None:
    """So it was the attacks that were refused."""
    directory = copied(pristine[kind], tmp_path)
    assert CliRunner().invoke(cli, ["export", str(directory), "--format", name]).exit_code == 0


@pytest.mark.parametrize(("name", "changed"), [("junit", "target-stderr-1.bin"), ("md", "target-stderr-1.bin"),
                                               ("sarif", "incident.json")])
def test_a_part_that_changes_after_the_check_is_noticed(pristine: dict[str, Evidence], tmp_path: Path, name: str,
                                                        changed: str) -> None:
    """What a format reads again is proved again."""
    evidence = open_evidence(copied(pristine["recorded"], tmp_path))
    path = evidence.directory / changed
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(EvidenceAltered, match="is not what was kept"):
        FORMATS[name].render(evidence)
