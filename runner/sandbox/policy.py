"""Policies: what a sandbox may use. Data comes from ``policies/NAME.yaml`` or from a file of a person's own.

A report can never widen a policy, and a policy that ``extends`` another can only tighten it.
"""

from __future__ import annotations

from runner.errors import PolicyError, printable
from runner.resources import data_dir
from runner.sandbox.policy_model import OutputLimits, PayloadLimits, Policy, TmpLimits, WorkLimits
from runner.sandbox.policy_overlay import Asks, Clamp, build, clamp, tighten
from runner.sandbox.policy_yaml import read_policy_file
from runner.sandbox.seccomp import profile_names

__all__ = ["Asks", "Clamp", "OutputLimits", "PayloadLimits", "Policy", "TmpLimits", "WorkLimits", "clamp",
           "load_policy", "policy_names", "tighten", "with_runtime"]

DEFAULT_POLICY = "default"


def policy_names() -> tuple[str, ...]:
    """Names of the policies that come with the program, sorted."""
    return tuple(sorted(path.stem for path in data_dir("policies").glob("*.yaml")))


def load_policy(name_or_path: str) -> Policy:
    """A policy by its built-in name, or from a YAML file.

    A file either sets every field or names a built-in policy by ``extends`` and tightens it. Raises PolicyError.
    """
    if name_or_path in policy_names():
        return _built_in(name_or_path)
    if "/" not in name_or_path and not name_or_path.endswith((".yaml", ".yml")):
        raise PolicyError(f"there is no policy {printable(name_or_path)[:80]}",
                          hint=f"known policies: {', '.join(policy_names())}; a file is named with a / or .yaml")
    policy = _from_file(name_or_path, printable(name_or_path))
    if policy.name in policy_names():
        raise PolicyError(f"policy {printable(name_or_path)}: {policy.name} is the name of a built-in policy",
                          hint="give it a name of its own")
    return policy


def with_runtime(policy: Policy, available: tuple[str, ...]) -> Policy:
    """The policy with its preferred runtime set, where the engine has that one."""
    if policy.runtime is None and policy.runtime_preferred in available:
        return policy.model_copy(update={"runtime": policy.runtime_preferred})
    return policy


def _built_in(name: str) -> Policy:
    return _from_file(str(data_dir("policies") / f"{name}.yaml"), name)


def _from_file(path: str, source: str) -> Policy:
    fields = read_policy_file(path)
    base = fields.pop("extends", None)
    if base is None:
        policy = build(Policy, fields, source)
    elif not isinstance(base, str) or base not in policy_names() or base == source:
        raise PolicyError(f"policy {source}: extends must name a built-in policy",
                          hint=f"known policies: {', '.join(policy_names())}")
    elif "name" not in fields:
        raise PolicyError(f"policy {source}: name: Field required")
    else:
        policy = tighten(_built_in(base), fields, source)
    if policy.seccomp not in profile_names():
        raise PolicyError(f"policy {source}: seccomp: there is no profile {policy.seccomp}",
                          hint=f"known profiles: {', '.join(profile_names())}")
    return policy
