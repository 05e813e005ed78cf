"""What a profile of ours answers to a call, read as the engine reads it."""

from __future__ import annotations

from typing import Any

EPERM, ENOSYS = 1, 38
ALLOWED = "allowed"
NEW_NAMESPACES = {"NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000,
                  "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000}


def answer(profile: dict[str, Any], name: str, *args: int) -> str | int:
    """ALLOWED, or the errno that the call gets. Rules of one name are alternatives, their conditions all hold.

    What is handed to a tracer that does not exist gets ENOSYS (seccomp(2), SECCOMP_RET_TRACE).
    """
    for rule in profile["syscalls"]:
        if name in rule["names"] and all(_holds(condition, args) for condition in rule.get("args", ())):
            return ALLOWED if rule["action"] == "SCMP_ACT_ALLOW" else ENOSYS
    return int(profile["defaultErrnoRet"])


def _holds(condition: dict[str, Any], args: tuple[int, ...]) -> bool:
    value = args[condition["index"]]
    if condition["op"] == "SCMP_CMP_MASKED_EQ":
        return bool(value & condition["value"] == condition["valueTwo"])
    assert condition["op"] == "SCMP_CMP_EQ"
    return bool(value == condition["value"])
