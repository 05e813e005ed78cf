"""What legitimately comes out otherwise inside gVisor: one table, by test. Everything that is not in it is the same.

``docs/threat-model.md``, "Inside gVisor", says row by row what it means; each ``row`` here is one there. Tests read the
table by :func:`here`, and ``test_boundaries.py`` sees to it that nothing in it is left over.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness import RUNTIME


class Other(NamedTuple):
    """The outcome in place of the usual one, and the row of the documentation that explains it."""

    outcome: Any
    row: str


class AnyOf:
    """Equal to each of a few outcomes."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = outcomes

    def __eq__(self, other: object) -> bool:
        return any(other == outcome for outcome in self.outcomes)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"any of {self.outcomes!r}"


LOST = ("init_lost", None, None)
OUT_OF_MEMORY = ("oom_killed", 137, 9)
SPENT = AnyOf(OUT_OF_MEMORY, LOST)
"""The engine's word for it may come too late, after the end itself."""
ENDED = AnyOf(LOST, OUT_OF_MEMORY, ("timed_out", 124, None))
OPENED = (None,)
READ = ("done",)
RAN = "exited 0 'ran\\n'"

GVISOR: Mapping[str, Other] = {
    # the_init, the_leash, leaks
    "test_init_survives_every_signal_from_inside[KILL]": Other(LOST, "PID 1"),
    "test_init_survives_every_signal_from_inside[STOP]": Other(("timed_out", 124, None), "PID 1"),
    **{f"test_init_is_out_of_reach[{what}]": Other(READ, "PID 1") for what in (
        "read environ", "read maps", "read auxv", "read task/1/environ", "list fd", "list fdinfo", "link ns/pid",
        "link fd/0", "link fd/1", "link fd/2", "write fd/1", "write fd/2")},
    "test_init_is_out_of_reach[write fd/0]": Other(("EBADF",), "PID 1"),
    "test_init_is_out_of_reach[pidfd_getfd]": Other(("ENOSYS",), "Other answers"),
    "test_value_of_a_given_variable_is_in_no_configuration": Other(False, "PID 1"),
    # Exhaustion
    "test_init_cannot_be_starved": Other(AnyOf(("exited", 11, None), *ENDED.outcomes), "The whole sandbox ends"),
    "test_pids_used_up_leave_the_init_able_to_end": Other(ENDED, "The whole sandbox ends"),
    "test_memory_used_up_leaves_the_init_able_to_end": Other((SPENT, False), "The whole sandbox ends"),
    "test_memory_of_the_main_process_is_oom_killed": Other(SPENT, "The whole sandbox ends"),
    "test_memory_in_system_v_segments_is_charged": Other(AnyOf("oom_killed", "init_lost"), "The whole sandbox ends"),
    "test_fork_bomb_is_held_and_ended": Other(ENDED, "The whole sandbox ends"),
    "test_fork_count_is_the_policys": Other((ENDED, b""), "The whole sandbox ends"),
    "test_thread_bomb_is_held": Other((ENDED, b""), "The whole sandbox ends"),
    "test_memory_of_a_child_does_not_change_the_cause": Other((SPENT, False), "The whole sandbox ends"),
    "test_memory_of_a_childs_child_under_shell_text": Other((SPENT, None, False), "The whole sandbox ends"),
    "test_memory_of_a_childs_child_under_shell_text:judged": Other(AnyOf("resource", "no_verdict"),
                                                                    "The whole sandbox ends"),
    "test_trailer_survives_memory_that_belongs_to_no_process:ending": Other(ENDED, "The whole sandbox ends"),
    "test_own_kill_beside_a_childs_oom_is_at_most_a_resource": Other(SPENT, "The whole sandbox ends"),
    # Figures and limits that are not shown
    "test_trailer_survives_memory_that_belongs_to_no_process": Other(False, "Figures"),
    "test_pids": Other(None, "Limits"),
    "test_memory_without_swap": Other(None, "Limits"),
    "test_memory_without_swap:swap": Other((None,), "Limits"),
    "test_memory_without_swap:total": Other(True, "Limits"),
    "test_cpus": Other(None, "Limits"),
    # Mounts
    **{f"test_mount_options[{place}-tmpfs-{case}]:type": Other(("9p",), "Mounts")
       for place, case in (("/workspace", "options2"), ("/tmp", "options3"))},
    "test_mount_options[/workspace-tmpfs-options2]": Other({"rw"}, "Mounts"),
    "test_mount_options[/tmp-tmpfs-options3]": Other({"rw"}, "Mounts"),
    "test_mount_options[/dev/shm-tmpfs-options4]": Other({"rw", "noexec"}, "Mounts"),
    "test_mount_options[/proc-proc-options5]": Other({"noexec"}, "Mounts"),
    "test_mount_options[/sys-sysfs-options6]": Other({"ro", "noexec"}, "Mounts"),
    "test_only_the_volume_and_scratch_places_can_be_written": Other({"/workspace", "/tmp", "/dev/shm"}, "Mounts"),
    "test_links_at_our_mount_points_only_get_the_run_refused[tools-in-proc]": Other(RAN, "Mounts"),
    **{f"test_links_at_our_mount_points_only_get_the_run_refused[{name}]": Other(AnyOf("refused", RAN), "Mounts")
       for name in ("tools-hidden", "tools-in-tmp")},
    "test_destroying_everything_in_reach_reaches_nothing": Other((7, b""), "Mounts"),
    # Files that only its kernel knows
    "test_files_that_hang_their_reader_are_only_listed": Other({}, "Special files"),
    "test_descriptors_cannot_be_passed_out": Other([], "Special files"),
    # Devices, calls and options
    "test_device_or_engine_socket_is_absent[/dev/fuse]": Other(OPENED, "Devices and options"),
    "test_device_or_engine_socket_is_absent[/dev/net/tun]": Other(OPENED, "Devices and options"),
    "test_dev_holds_a_dozen_harmless_names": Other(
        {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr",
         "fuse", "net"}, "Devices and options"),
    **{f"test_privileged_socket_options_are_denied[{name}]": Other("done", "Devices and options")
       for name in ("SO_MARK", "TCP_REPAIR", "IP_TRANSPARENT")},
    "test_there_is_no_privilege_to_gain[nice-EPERM]": Other("allowed", "Devices and options"),
    "test_file_cannot_be_written[/proc/self/oom_score_adj]": Other({"written"}, "Devices and options"),
    "test_file_cannot_be_written[/proc/self/uid_map]": Other({"EINVAL"}, "Other answers"),
    "test_file_cannot_be_written[/proc/self/gid_map]": Other({"EINVAL"}, "Other answers"),
    "test_there_is_no_privilege_to_gain[CapAmb-0000000000000000]": Other("not shown", "Other answers"),
    "test_there_is_no_privilege_to_gain[file capability-EPERM]": Other("ENOTSUP", "Other answers"),
    "test_there_is_no_privilege_to_gain[real time-EPERM]": Other("EINVAL", "Other answers"),
    "test_a_call_newer_than_the_profile_is_not_implemented": Other("EPERM", "Other answers"),
    "test_personality_may_be_asked_not_changed": Other("EINVAL", "Other answers"),
    "test_the_filter_holds_for_other_system_call_tables": Other("refused", "Other answers"),
    "test_own_priority_can_be_lowered": Other([5, "Invalid argument"], "Other answers"),
    "test_nobody_is_reached": Other(AnyOf(("ENETUNREACH", "ENETUNREACH"), ("EHOSTUNREACH", "EHOSTUNREACH")),
                                    "Other answers"),
    "test_services_of_the_host_are_not_reached": Other(["ECONNREFUSED", "EHOSTUNREACH"], "Other answers"),
    "test_terminal_is_not_to_be_had": Other("EIO", "Other answers"),
    # How much of an attack is tried: the same in less time
    "test_flood_of_queued_signals_kills_nobody": Other(2_000, "Time"),
    "test_cpu_of_many_spinners_is_one_core": Other(8, "Time"),
    "test_volume_filled_to_the_brim_run_after_run": Other(3, "Time"),
    "test_memory_of_the_controller_is_flat": Other(64, "Time"),
    "test_silence_longer_than_the_engine_client_waits_ends_nothing": Other(5, "Time"),
    "test_steward_killed_by_somebody_else_is_no_verdict_on_the_payload": Other(8.0, "Time"),
}


def here(usual: Any, label: str = "") -> Any:
    """``usual``, or what the table has for the running test, all of its parameters, or a label of one assertion."""
    if RUNTIME is None:
        return usual
    case = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0].partition("::")[2]
    name = case.partition("[")[0]
    for key in (f"{case}:{label}", f"{name}:{label}") if label else (case, name):
        if key in GVISOR:
            return GVISOR[key].outcome
    return usual


def within(low: float, figure: float | None, high: float) -> bool:
    """Whether a figure that the kernel tells lies there; gVisor's is no such figure, so there it must be hidden."""
    if RUNTIME is not None:
        return figure is None
    return figure is not None and low <= figure <= high
