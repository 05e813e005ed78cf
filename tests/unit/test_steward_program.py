"""The steward as it is shipped: a process, its pipes, and trees that a workload may have left."""

import hashlib
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from steward_process import StewardProcess
from trees import LIMITS, memory_folder, plain_python, sample

from runner.errors import PayloadChanged, SeedMismatch, StewardLost
from runner.payload import frames
from runner.payload.fingerprint import Change
from runner.payload.seal import seal
from runner.sandbox.steward import Steward


@pytest.fixture
def steward(tmp_path):
    with StewardProcess(tmp_path) as process:
        yield process


@pytest.fixture
def sealed(tmp_path):
    return seal(sample(tmp_path / "payload"), LIMITS)


@pytest.fixture
def cloned(steward, sealed):
    """A steward with the payload in volume 1; gives the volume's directory."""
    steward.client.put(sealed)
    steward.client.clone(1)
    return steward.volumes[0]


def test_hello_tells_what_is_mounted(steward):
    hello = steward.client.hello()
    assert hello.protocol == 2
    assert len(hello.volumes) == 2
    assert hello.volumes[0].total_bytes == hello.pristine.total_bytes > 0
    assert hello.volumes[0].fstype
    assert hello.volumes[0].options
    assert hello.shm.fstype == "tmpfs"
    assert hello.scratch.total_bytes > 0
    assert hello.init_sha256 == hashlib.sha256(b"init").hexdigest()
    (steward.folder / "tools" / "init").unlink()
    assert steward.client.hello().init_sha256 == ""


def test_hello_tells_what_confines_it(steward):
    """Here nothing does; and nothing is made up."""
    held = steward.client.hello().confinement
    assert (held.kernel, held.user) == (os.uname().release, f"{os.getuid()}:{os.getgid()}")
    assert (held.capabilities != 0, held.no_new_privileges, held.read_only_root) == (True, False, False)
    assert set(held.interfaces) == {name for _, name in socket.if_nameindex()}


def test_put_clone_and_fingerprint_agree_with_the_seal(steward, sealed):
    assert steward.client.put(sealed) == sealed.fingerprint
    for volume in (1, 2):
        steward.client.clone(volume)
        assert steward.client.fingerprint(volume) == sealed.fingerprint
    assert seal(steward.volumes[1], LIMITS).manifest == sealed.manifest


def test_an_untouched_volume_has_no_changes(steward, sealed, cloned):
    assert steward.client.changes(1) == (sealed.fingerprint, (), "")


def test_what_a_run_did_is_listed(steward, sealed, cloned):
    status = (cloned / "a.txt").stat()
    (cloned / "a.txt").write_bytes(b"ho\n")
    os.utime(cloned / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
    (cloned / "d-e").unlink()
    (cloned / "d").chmod(0o700)
    os.mkfifo(cloned / "pipe")
    os.symlink("/etc/passwd", cloned / "way out")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(cloned / "sock"))
    os.link(cloned / "a.txt", cloned / "twin")
    with open(os.path.join(os.fsencode(cloned), b"\xff\n"), "wb"):
        pass
    seen = steward.client.changes(1)
    assert seen.changes == (
        Change("modified", b"a.txt", "file, 3 bytes, other content"),
        Change("mode", b"d", "0755 -> 0700"),
        Change("removed", b"d-e", "file, 1 bytes"),
        Change("added", b"pipe", "fifo"),
        Change("added", b"sock", "socket"),
        Change("added", b"twin", "file, 3 bytes"),
        Change("added", b"way out", "link to /etc/passwd"),
        Change("added", b"\xff\n", "file, 0 bytes"),
    )
    assert seen.note == ""
    assert seen.after is not None
    assert seen.after != sealed.fingerprint


def test_wipe_empties_and_a_volume_can_be_used_again(steward, sealed, cloned):
    (cloned / "more").mkdir(mode=0)
    steward.client.wipe(1)
    assert list(cloned.iterdir()) == []
    steward.client.clone(1)
    assert steward.client.fingerprint(1) == sealed.fingerprint


def test_usage_is_that_of_the_file_system(steward):
    usage, status = steward.client.usage(1), os.statvfs(steward.volumes[0])
    assert (usage.total_bytes, usage.inodes) == (status.f_blocks * status.f_frsize, status.f_files)
    assert 0 < usage.free_bytes <= usage.total_bytes


def test_declared_artifacts_are_taken_and_others_left(steward, cloned):
    (cloned / "out").mkdir()
    (cloned / "out" / "one.xml").write_bytes(b"<a/>")
    (cloned / "out" / "big.xml").write_bytes(b"x" * 700_000)
    os.symlink("/etc/passwd", cloned / "out" / "link.xml")
    os.mkfifo(cloned / "out" / "pipe.xml")
    found = steward.client.collect(1, ("out/*.xml", "a.txt"), 10, 1_000_000)
    assert [(each.path, len(each.data)) for each in found.artifacts] == [
        (b"a.txt", 3), (b"out/big.xml", 700_000), (b"out/one.xml", 4)]
    assert found.note == "not_a_file at out/link.xml; not_a_file at out/pipe.xml"
    assert steward.client.collect(1, ("**/one.xml",), 10, 10).artifacts[0].data == b"<a/>"


def test_artifact_caps_skip_and_say_so(steward, cloned):
    for name in "abc":
        (cloned / name).write_bytes(name.encode() * 10)
    found = steward.client.collect(1, ("?",), 10, 25)
    assert ([each.path for each in found.artifacts], found.note) == ([b"a", b"b"], "too_large at c")
    found = steward.client.collect(1, ("[", "b", "c"), 1, 25)
    assert ([each.path for each in found.artifacts], found.note) == ([b"b"], "too_many_files at c")


def test_a_sparse_giant_is_noted_and_not_read(steward, cloned):
    (cloned / "hole").touch()
    os.truncate(cloned / "hole", 1 << 40)
    seen = steward.client.changes(1)
    assert seen.after is None
    assert seen.note == "too_large at hole (1099511627776 bytes)"
    assert seen.changes == (Change("added", b"hole", "file, 1099511627776 bytes, not read"),)
    assert steward.client.collect(1, ("hole",), 1, 1000).note == "too_large at hole"
    with pytest.raises(SeedMismatch, match="too_large"):
        steward.client.fingerprint(1)


@pytest.fixture
def roomy():
    """A steward whose volume 1 is in memory and holds the payload; gives the steward and the volume."""
    with memory_folder() as folder:
        sealed = seal(sample(folder / "payload"), LIMITS)
        with StewardProcess(folder, volumes=1) as steward:
            steward.client.put(sealed)
            steward.client.clone(1)
            yield steward, steward.volumes[0]


def dig(root, name, levels):
    """A chain of directories; gives a descriptor of the last."""
    fd = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def test_a_tree_thousands_of_levels_deep_is_noted_and_wiped(roomy):
    steward, volume = roomy
    os.close(dig(volume, "deep", 5000))
    seen = steward.client.changes(1)
    assert seen.after is None
    assert seen.note.startswith("too_deep at deep/deep/")
    assert {change.kind for change in seen.changes} == {"added"}
    steward.client.wipe(1)
    assert list(volume.iterdir()) == []


def test_a_volume_full_of_long_paths_costs_bounded_memory(roomy):
    steward, volume = roomy
    fd = dig(volume, "n" * 250, 20)
    for number in range(9_000):
        os.close(os.open(f"{number}{'n' * 240}", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)
    (volume / "a.txt").unlink()
    seen = steward.client.changes(1)
    assert seen.after is None
    assert seen.note.startswith("too_much_text at nnn")
    assert "too_many_changes: " in seen.note
    assert "removed" not in {change.kind for change in seen.changes}
    status = Path(f"/proc/{steward.process.pid}/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert peak < 100 << 10
    steward.client.wipe(1)
    assert list(volume.iterdir()) == []


def test_an_unprivileged_steward_reads_what_its_owner_made_unreadable():
    with memory_folder() as folder:
        sealed = seal(sample(folder / "payload"), LIMITS)
        with StewardProcess(folder, plain=True) as steward:
            steward.client.put(sealed)
            steward.client.clone(1)
            code = ("import os, sys; os.chdir(sys.argv[1]); os.chmod('a.txt', 0); os.chmod('d/deep/big', 0)\n"
                    "os.chmod('d/deep', 0o200); os.chmod('d', 0)")
            owner = {"user": 10001, "group": 10001, "extra_groups": []} if os.geteuid() == 0 else {}
            subprocess.run([*plain_python(), "-c", code, str(steward.volumes[0])], check=True, **owner)
            for _ in range(2):
                seen = steward.client.changes(1)
                assert (seen.note, [(each.kind, each.path, each.detail) for each in seen.changes]) == ("", [
                    ("mode", b"a.txt", "0644 -> 0000"), ("mode", b"d", "0755 -> 0000"),
                    ("mode", b"d/deep", "0755 -> 0200"), ("mode", b"d/deep/big", "0644 -> 0000")])
                assert seen.after is not None
                assert seen.after.content == sealed.fingerprint.content
            assert steward.client.collect(1, ("a.txt",), 1, 9).artifacts[0].data == b"hi\n"
            assert (steward.volumes[0] / "d").stat().st_mode & 0o777 == 0
            steward.client.wipe(1)
            assert list(steward.volumes[0].iterdir()) == []
            steward.client.wipe(2)


def test_modes_that_deny_the_owner_travel_in_a_payload_too():
    with memory_folder() as folder:
        root = sample(folder / "payload")
        if os.geteuid() == 0:  # only root can seal what denies its owner
            (root / "d" / "deep").chmod(0o111)
            (root / "d").chmod(0)
            (root / "a.txt").chmod(0)
        sealed = seal(root, LIMITS)
        with StewardProcess(folder, plain=True) as steward:
            assert steward.client.put(sealed) == sealed.fingerprint
            steward.client.clone(1)
            assert steward.client.fingerprint(1) == sealed.fingerprint
            steward.client.clone(2)
            assert steward.client.changes(2) == (sealed.fingerprint, (), "")
            for volume in (1, 2):
                steward.client.wipe(volume)
            root.chmod(0o755)


def test_a_payload_that_changes_while_it_is_sent_ends_the_conversation(steward, sealed, tmp_path):
    (tmp_path / "payload" / "a.txt").write_bytes(b"ho\n")
    with pytest.raises(PayloadChanged):
        steward.client.put(sealed)
    with pytest.raises(StewardLost, match="before"):
        steward.client.usage(1)


@pytest.mark.parametrize("order", [("clone",), ("changes",), ("put", "put")])
def test_operations_out_of_order_are_refused_and_the_steward_lives_on(steward, sealed, order):
    *first, last = order
    for _ in first:
        steward.client.put(sealed)
    with pytest.raises((SeedMismatch, StewardLost)):
        getattr(steward.client, last)(sealed if last == "put" else 1)
    assert steward.client.usage(1).total_bytes > 0


def test_a_volume_that_does_not_exist_is_an_error_and_no_more(steward):
    with pytest.raises(StewardLost, match="No such file"):
        steward.client.usage(9)
    with pytest.raises(StewardLost, match="No such file"):
        steward.client.wipe(0)
    assert steward.client.usage(1).total_bytes > 0


def test_a_second_clone_into_the_same_volume_is_refused(steward, cloned):
    with pytest.raises(SeedMismatch, match="File exists"):
        steward.client.clone(1)


def test_a_full_volume_is_a_seed_mismatch(tmp_path, sealed):
    limit = resource.prlimit  # the file-size limit stands in for a full disk
    with StewardProcess(tmp_path) as steward:
        steward.client.put(sealed)
        limit(steward.process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        with pytest.raises(SeedMismatch, match="clone"):
            steward.client.clone(1)
        assert steward.client.usage(1).total_bytes > 0


def test_the_end_of_stdin_ends_it_at_once(steward):
    steward.client.hello()
    steward.process.stdin.close()
    assert steward.process.wait(timeout=10) == 0


def test_the_leash_holds_while_an_operation_is_stuck(steward):
    """Nobody reads the answers, so the steward blocks in the middle of writing; the leash ends it all the same."""
    request = frames.encode(frames.REQUEST, b"hello")
    for _ in range(3000):
        steward.channel.send(request)
    steward.process.stdin.close()
    assert steward.process.wait(timeout=10) == 0


def test_it_does_not_outlive_its_lifetime(tmp_path):
    with StewardProcess(tmp_path, options=("--lifetime", "0.3")) as steward:
        assert steward.process.wait(timeout=10) == 3


@pytest.mark.parametrize("wire", [
    b"\xff\xff\xff\xffQ", frames.raw(b"E", b""), frames.encode(b"Q"), frames.encode(b"Q", b"dance"),
    frames.raw(b"Q", b"\0\0\0\xffx"), frames.encode(b"Q", b"usage", b"-1"), frames.encode(b"Q", b"clone"),
], ids=range(7))
def test_nonsense_ends_it(steward, wire):
    steward.channel.send(wire)
    assert steward.process.wait(timeout=10) == 1
    assert b"Error: " in steward.process.stderr.read().splitlines()[-1]


def test_options_are_checked(tmp_path):
    with StewardProcess(tmp_path, options=("--lifetim", "1")) as steward:
        assert steward.process.wait(timeout=10) == 1


def test_it_loads_little_and_only_the_standard_library(steward):
    program = str(steward.folder / "opt" / "steward.py")
    done = subprocess.run([sys.executable, "-I", "-B", "-S", "-X", "importtime", program], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=True, env={})
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "runner.payload.operations" in loaded
    assert {name.partition(".")[0] for name in loaded} <= {"runner", "imported package", *sys.stdlib_module_names}
    assert not loaded & {"argparse", "dataclasses", "inspect", "json", "logging", "queue", "subprocess", "tempfile",
                         "unicodedata", "runner.payload.seal"}


def test_requests_from_several_threads_take_turns(steward, sealed):
    assert isinstance(steward.client, Steward)
    steward.client.put(sealed)
    from concurrent.futures import ThreadPoolExecutor  # only here
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: steward.client.usage(1).inodes, range(40)))
    assert len(set(results)) == 1
