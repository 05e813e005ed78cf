"""Threat: using up what the host has (rows 7, 16, 19, 20): processes, memory, disk, inodes, descriptors, time."""

from __future__ import annotations

import pytest
from boundaries import here, within
from harness import MIB, POLICY, attack, attack_with, attacks_with, changes, ending, said

from runner.evidence.observation import Observation, Workspace
from runner.oracles.contract import Contract
from runner.oracles.judge import judge
from runner.oracles.match import Matcher

FILL = """
import errno, json, os, sys
def fill(folder, piece):
    written = 0
    try:
        for number in range(1 << 20):
            with open(f"{folder}/{number}", "wb", 0) as file:
                for _ in range(16):
                    written += file.write(piece)
    except OSError as error:
        return errno.errorcode[error.errno], written, number
"""


def judged(seen: Observation, contract: Contract) -> tuple[bool, str | None, str]:
    """Accepted, reason and settled cause."""
    with Matcher(contract.match) as matcher:
        judgement = judge(contract, seen, matcher)
    return judgement.accepted, judgement.mismatch_reason, str(judgement.cause)


def test_fork_bomb_is_held_and_ended() -> None:
    """Row 20: a process that only forks gets no further than the pids limit, and ends at the deadline."""
    for seen in attacks_with("""
        import os
        while True:
            try:
                os.fork()
            except BlockingIOError:
                pass
        """, runs=2, timeout=2.0):
        assert ending(seen) == here(("timed_out", 124, None))


def test_fork_bomb_in_shell_leaves_nothing() -> None:
    """Row 20: the classic one; its first process ends at once, and all others with it."""
    seen, = attack({}, "bomb() { bomb | bomb & }; bomb; exit 3")
    assert (seen.status.cause, seen.changes) == ("exited", ())


def test_fork_count_is_the_policys() -> None:
    """Row 20: together with the init there are never more processes than the policy's pids."""
    seen = attack_with("""
        import os, signal
        children = []
        try:
            while True:
                child = os.fork()
                if child == 0:
                    signal.pause()
                children.append(child)
        except BlockingIOError:
            print(len(children) + 2)
        """)
    assert (ending(seen), seen.stdout.kept) == here((("exited", 0, None), b"%d\n" % POLICY.pids))


def test_thread_bomb_is_held() -> None:
    """Row 20: threads count like processes."""
    seen = attack_with("""
        import threading
        stop, count = threading.Event(), 1
        try:
            while True:
                threading.Thread(target=stop.wait, daemon=True).start()
                count += 1
        except RuntimeError:
            print(count + 1)
            stop.set()
        """)
    assert (ending(seen), seen.stdout.kept) == here((("exited", 0, None), b"%d\n" % POLICY.pids))


def test_memory_of_the_main_process_is_oom_killed() -> None:
    """Row 16: the engine's flag and the death by signal 9 together are an OOM; the next run is as fresh."""
    for seen in attacks_with("hoard = []\nwhile True: hoard.append(bytearray(1 << 20))", runs=2):
        assert ending(seen) == here(("oom_killed", 137, 9))
        assert within(1, seen.peak_memory, POLICY.memory)


def test_memory_of_a_child_does_not_change_the_cause() -> None:
    """Row 16: only a child was killed; the main process says 3, and that is what counts."""
    seen = attack_with("""
        import subprocess, sys
        child = subprocess.run([sys.executable, "-c", "bytearray(1 << 28).replace(b'0', b'1')"])
        sys.exit(3 if child.returncode == -9 else 4)
        """)
    assert (ending(seen), seen.status.child_oom) == here((("exited", 3, None), True))


def test_memory_of_a_childs_child_under_shell_text() -> None:
    """Row 16: the shell returns 137 for it: a claim, with the OOM beside it, and never an accepted failure."""
    seen, = attack({}, "python3 -c 'x = bytearray(1 << 28).replace(b\"0\", b\"1\")'; exit $?")
    assert (ending(seen), seen.status.signal_hint, seen.status.child_oom) == here((("exited", 137, None), 9, True))
    assert judged(seen, Contract(137))[:2] == (False, here("resource", "judged"))


def test_own_137_without_memory_pressure_is_no_oom() -> None:
    """Row 16: the exit code 137 says nothing about memory."""
    seen = attack_with("import os; os._exit(137)")
    assert (ending(seen), seen.status.child_oom) == (("exited", 137, None), False)


def test_memory_in_system_v_segments_is_charged() -> None:
    """Row 16, 20: segments outlive processes, not the run: they are charged to it and gone with it."""
    program = """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        for key in range(1, 64):
            segment = libc.shmget(key, 16 << 20, 0o1600)
            if segment < 0 or libc.shmget(key, 0, 0) != segment:
                break
            ctypes.memset(libc.shmat(segment, None, 0), 1, 16 << 20)
        """
    for seen in attacks_with(program, runs=2):
        assert seen.status.cause == here("oom_killed")


def test_memory_of_pipes_and_sockets_is_held() -> None:
    """Row 17: kernel buffers count too: descriptors run out, or memory does, but never the host's."""
    seen = attack_with("""
        import errno, fcntl, json, os, socket
        kept = []
        try:
            while True:
                pair = socket.socketpair()
                pair[0].setblocking(False)
                kept.append(pair)
                try:
                    while True:
                        pair[0].send(bytes(65536))
                except BlockingIOError:
                    pass
        except OSError as error:
            print(json.dumps([errno.errorcode[error.errno], len(kept)]))
        """)
    reason, count = said(seen)
    assert (reason, count) == ("EMFILE", (POLICY.nofile - 3) // 2)
    assert within(1, seen.peak_memory, POLICY.memory)


@pytest.mark.parametrize(("folder", "size"), [("/tmp", 16 * MIB), ("/dev/shm", MIB)])
def test_scratch_space_is_capped_in_bytes(folder: str, size: int) -> None:
    """Row 19: /tmp and shared memory end in ENOSPC at the policy's size; memory still holds them."""
    seen = attack_with(FILL + f"print(json.dumps(fill({folder!r}, bytes(4096))))")
    reason, written, _ = said(seen)
    assert (reason, seen.workspace, seen.status.child_oom) == ("ENOSPC", Workspace.ROOM, False)
    assert size - 64 * 1024 <= written <= size


def test_scratch_space_is_capped_in_inodes() -> None:
    """Row 19: empty files in /tmp end in ENOSPC too."""
    reason, _, number = said(attack_with(FILL + "print(json.dumps(fill('/tmp', b'')))"))
    assert (reason, number) == ("ENOSPC", POLICY.tmp.inodes - 1)


def test_volume_full_of_bytes_is_a_disk_limit_unless_the_failure_shows() -> None:
    """Row 19: statfs says full. A contract that is not met becomes disk_limit, one that is met stays met."""
    seen = attack_with(FILL + "print(json.dumps(fill('.', bytes(65536))))\nprint('boom')\nsys.exit(5)")
    assert (ending(seen), seen.workspace) == (("exited", 5, None), Workspace.FULL_BYTES)
    assert b'["ENOSPC", 33' in seen.stdout.kept
    assert judged(seen, Contract(1)) == (False, "resource", "disk_limit")
    assert judged(seen, Contract(5, "boom")) == (True, None, "exited")


def test_volume_full_of_inodes_is_a_disk_limit_unless_the_failure_shows() -> None:
    """Row 19: four thousand empty files take no bytes but every inode."""
    seen = attack_with(FILL + "print(json.dumps(fill('.', b'')))\nsys.exit(5)")
    assert (ending(seen), seen.workspace) == (("exited", 5, None), Workspace.FULL_INODES)
    assert b'"ENOSPC"' in seen.stdout.kept
    assert judged(seen, Contract(1)) == (False, "resource", "disk_limit")
    assert judged(seen, Contract(5)) == (True, None, "exited")


def test_file_larger_than_the_policy_allows_is_a_disk_limit() -> None:
    """Row 19: SIGXFSZ ends who writes past the file size, at exactly that size."""
    seen, = attack({}, "head -c 30000000 /dev/zero > big")
    assert ending(seen) == ("disk_limit", 153, 25)
    assert changes(seen) == {b"big": ("added", f"file, {POLICY.file_size} bytes")}


def test_sparse_file_cannot_claim_more_than_the_policy_allows() -> None:
    """Row 7: a file of one tebibyte that takes no space is refused like any other large file."""
    seen, = attack({}, "truncate -s 1T huge")
    assert ending(seen) == ("disk_limit", 153, 25)


def test_program_that_never_ends_is_ended() -> None:
    """Row 12, 13: at the deadline everything is killed; 124, as timeout(1) says it."""
    seen = attack_with("while True: pass", timeout=1.0)
    assert ending(seen) == ("timed_out", 124, None)
    assert seen.status.engine_exit_code == 137


def test_cpu_of_many_spinners_is_one_core() -> None:
    """Row 15: thirty processes that spin get the policy's one core together, not one each."""
    seen = attack_with(f"""
        import os, time
        end = time.monotonic() + 2
        for _ in range({here(30)}):
            if os.fork() == 0:
                while time.monotonic() < end:
                    pass
                os._exit(0)
        for _ in range({here(30)}):
            os.wait()
        print(0)
        """)
    assert said(seen) == 0
    assert within(0, seen.cpu_seconds, 1.25 * seen.wall_seconds * POLICY.cpus)


def test_exhausted_descriptors_hurt_only_the_workload() -> None:
    """Row 20: EMFILE at the policy's nofile; the trailer comes all the same."""
    reason, count = said(attack_with("""
        import errno, json
        kept = []
        try:
            while True:
                kept.append(open("/dev/null"))
        except OSError as error:
            print(json.dumps([errno.errorcode[error.errno], kept[-1].fileno() + 1]))
        """))
    assert (reason, count) == ("EMFILE", POLICY.nofile)


def test_limits_cannot_be_raised_again() -> None:
    """Row 19: hard limits stay hard."""
    answer = said(attack_with("""
        import json, resource
        def raised(name):
            soft, hard = resource.getrlimit(name)
            try:
                resource.setrlimit(name, (hard + 1, hard + 1))
            except ValueError:
                return [hard, "refused"]
            return [hard, "raised"]
        print(json.dumps({name: raised(getattr(resource, "RLIMIT_" + name)) for name in ("NOFILE", "FSIZE", "CORE")}))
        """))
    assert answer == {"NOFILE": [POLICY.nofile, "refused"], "FSIZE": [POLICY.file_size, "refused"],
                      "CORE": [0, "refused"]}
