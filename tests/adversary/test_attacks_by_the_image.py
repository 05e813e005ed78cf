"""Threat: an image that wants a say in how the workload runs (rows 3, 20, 22, 23; reserve).

Whoever names an image trusts its programs, but neither its configuration nor its links may reach around the init,
leave something on the engine, or make a verdict: at most a run is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from boundaries import here
from harness import Files, attack, backend, ending, engine, opened, said
from hostile_images import Hostile, loaded

from runner.controller.observe import RunsCut
from runner.errors import SetupError
from runner.sandbox.image import ResolvedImage

PYTHON = "/usr/bin/python3"
FORGER = b"""#!/usr/bin/python3
import os
data = b""
while len(data) < 44:
    data += os.read(0, 100)
os.write(1, b"the secret is " + data[44:])
os.write(2, b"\\0RUNNER-TRAILER-1 " + data[8:40].hex().encode() + b" S 0000000011 " + b" ".join([b"0" * 20] * 4)
         + b" " + b"9" * 20 + b"\\n")
"""
TRAP = [PYTHON, "-c", "print('hijacked')"]
IMAGES = {
    "trap": Hostile(config={
        "Entrypoint": TRAP, "Cmd": ["hijacked"], "User": "0:0", "WorkingDir": "/etc", "StopSignal": "SIGWINCH",
        "Healthcheck": {"Test": ["CMD", PYTHON, "-c", "open('/workspace/health', 'w')"], "Interval": 50_000_000},
        "Volumes": {"/data": {}, "/var/lib/database": {}, "/workspace": {}, "/tmp": {}, "/opt": {}},
        "ExposedPorts": {"80/tcp": {}}, "OnBuild": ["RUN true"],
        "Env": ["LD_PRELOAD=/workspace/evil.so", "PYTHONSTARTUP=/etc/evil.py", "PYTHONHASHSEED=random", "TZ=Asia/Tokyo",
                "LD_LIBRARY_PATH=/workspace", "PATH=/evil:/usr/bin:/bin", "HOSTNAME=evil", "IMAGE_ONLY=kept"],
        "Labels": {"io.sandbox-runner.session": "forged", "io.sandbox-runner.expires": "0",
                   "io.sandbox-runner.role": "steward", "io.sandbox-runner.image": "command"}}),
    "preload": Hostile(files={"etc/ld.so.preload": b"/workspace/evil.so\n"}),
    "planted-init": Hostile(files={".runner/init": FORGER, "workspace/planted": b"x", "tmp/planted": b"x"}),
    "tools-in-volume": Hostile(links={".runner": "workspace/tools"}),
    "tools-in-tmp": Hostile(links={".runner": "tmp"}, files={"evil/init": FORGER}),
    "tools-elsewhere": Hostile(links={".runner": "evil"}, files={"evil/init": FORGER}),
    "tools-hidden": Hostile(links={".runner": "evil"}, files={"evil/init": FORGER}, config={"Volumes": {"/evil": {}}}),
    "tools-in-proc": Hostile(links={".runner": "proc/self"}),
    "volume-in-etc": Hostile(links={"workspace": "etc"}),
    "no-python": Hostile(on_top=False),
}


@pytest.fixture(scope="module")
def images() -> Iterator[dict[str, ResolvedImage]]:
    with loaded(IMAGES) as found:
        yield found


def test_configuration_of_the_image_is_neutralised(images: dict[str, ResolvedImage]) -> None:
    """Row 20, 23: entry point, command, user, directory, health check and the environment's last word are ours."""
    seen, = attack({"evil.so": b"x"}, (PYTHON, "-c", """
import json, os, sys
print(json.dumps([os.getuid(), os.getcwd(), os.environ["TZ"], os.environ["PYTHONHASHSEED"], os.environ["IMAGE_ONLY"],
                  os.path.exists("/workspace/health")]))
"""), image=images["trap"])
    assert said(seen) == [10001, "/workspace", "UTC", "0", "kept", False]
    assert (ending(seen), seen.changes) == (("exited", 0, None), ())


def test_declared_volumes_leave_none_behind_and_no_health_check_runs(images: dict[str, ResolvedImage]) -> None:
    """Row 20: a small tmpfs lies over each declared path; no anonymous volume is made; HEALTHCHECK is NONE."""
    before = {entry["Name"] for entry in engine().volumes().get("Volumes") or []}
    with opened({}, (PYTHON, "-c", "pass"), image=images["trap"]) as (session, plan, _, mark):
        run = session.prepare(1)
        made = [entry for entry in engine().volumes().get("Volumes") or [] if entry["Name"] not in before]
        found, = (engine().inspect_container(entry["Id"]) for entry in engine().containers(
            filters={"label": [f"io.sandbox-runner.session={mark}", "io.sandbox-runner.role=workload"]}))
        run.discard()
    assert [entry["Name"] for entry in made if not (entry["Labels"] or {}).get("io.sandbox-runner.session")] == []
    assert found["Config"]["Healthcheck"]["Test"] == ["NONE"]
    assert "Health" not in found["State"]
    assert found["Config"]["Entrypoint"] == ["/.runner/init"]
    assert found["Config"]["User"] == "10001:10001"
    assert {mount["Type"] for mount in found["Mounts"]} <= {"volume", "tmpfs"}
    assert set(plan.image.volumes if plan.image else ()) == {"/data", "/var/lib/database", "/workspace", "/tmp", "/opt"}


def test_declared_volume_can_be_written_and_is_capped(images: dict[str, ResolvedImage]) -> None:
    """Row 19, 20: what the image's programs expect to write to works, within /tmp's size, and is new each time."""
    for seen in attack({}, (PYTHON, "-c", """
import json, os
status = os.statvfs("/data")
print(json.dumps([os.listdir("/data"), status.f_blocks * status.f_frsize]))
open("/data/left", "w").write("x")
"""), image=images["trap"], runs=2):
        assert said(seen) == [[], 16 << 20]


def test_labels_of_the_image_do_not_replace_ours(images: dict[str, ResolvedImage]) -> None:
    """Row 14, 20: a forged session, role and expiry neither hide the container from us nor have it removed early."""
    with opened({}, (PYTHON, "-c", "pass"), image=images["trap"]) as (session, _, _, mark):
        run = session.prepare(1)
        labels, = (entry["Labels"] for entry in engine().containers(
            filters={"label": [f"io.sandbox-runner.session={mark}", "io.sandbox-runner.role=workload"]}))
        run.discard()
    assert labels["io.sandbox-runner.session"] == mark
    assert int(labels["io.sandbox-runner.expires"]) > 0


def test_image_that_says_it_is_ours_is_not(images: dict[str, ResolvedImage]) -> None:
    """Row 21: the label alone makes no image of ours; the one that is used has our time stamp and single layer."""
    chosen = backend().resolve_image(None)
    assert chosen.id != images["trap"].id


def test_preloaded_library_does_not_reach_the_init(images: dict[str, ResolvedImage]) -> None:
    """Row 23: the init is static: /etc/ld.so.preload of the image is the workload's trouble alone."""
    seen, = attack({"evil.so": b"x"}, (PYTHON, "-c", "import os; os._exit(31)"), image=images["preload"])
    assert ending(seen) == ("exited", 31, None)
    assert b"ld.so.preload cannot be preloaded" in seen.stderr.kept or seen.stderr.kept == b""


def test_planted_init_and_files_are_hidden(images: dict[str, ResolvedImage]) -> None:
    """Row 3: what the image has at our mount points is neither run nor copied up into a fresh volume."""
    look = "import json, os; print(json.dumps([os.listdir(f'/{place}') for place in ('workspace', 'tmp', '.runner')]))"
    seen, = attack({"own": "x"}, (PYTHON, "-c", look), image=images["planted-init"])
    assert said(seen) == [["own"], [], ["init"]]


def outcome_on(image: ResolvedImage) -> str:
    """``refused``, in one line; or how it ended and what it printed, all of which our own init vouches for."""
    files: Files = {"tools/init": FORGER, "data": "x"}
    try:
        seen, = attack(files, (PYTHON, "-c", "print('ran')"), image=image, env={"SECRET": "s3cr3t"})
    except RunsCut as cut:
        problem = f"{cut.__cause__}"
        plain = isinstance(cut.__cause__, SetupError) and "s3cr3t" not in problem and "\n" not in problem
        return "refused" if plain and cut.finished == () else problem
    return f"{seen.status.cause} {seen.status.returncode} {(seen.stdout.kept + seen.stderr.kept).decode()!r}"


@pytest.mark.parametrize("name", ["tools-in-volume", "tools-in-tmp", "tools-hidden", "tools-in-proc", "volume-in-etc"])
def test_links_at_our_mount_points_only_get_the_run_refused(images: dict[str, ResolvedImage], name: str) -> None:
    """Row 3, 5: links that lead our mounts elsewhere cannot put a program of theirs in the init's place."""
    assert outcome_on(images[name]) == here("refused")


def test_link_to_another_place_still_runs_our_init(images: dict[str, ResolvedImage]) -> None:
    """Row 3: the mount follows the link and hides what was planted there."""
    seen, = attack({"tools/init": FORGER}, (PYTHON, "-c", "import json, os; print(json.dumps(os.listdir('/evil')))"),
                   image=images["tools-elsewhere"], env={"SECRET": "s3cr3t"})
    assert said(seen) == ["init"]
    assert seen.stderr.kept == b""


def test_image_without_anything_can_still_tell_how_it_ended(images: dict[str, ResolvedImage]) -> None:
    """Row 23: without a shell or a library the init runs, and says that the program is not there."""
    seen, = attack({}, ("/bin/sh", "-c", "true"), image=images["no-python"])
    assert ending(seen) == ("not_started", None, None)


def test_environment_of_the_image_is_shown(images: dict[str, ResolvedImage]) -> None:
    """Row 22: it is kept, and recorded, so that nobody is surprised."""
    assert "LD_PRELOAD=/workspace/evil.so" in images["trap"].env
