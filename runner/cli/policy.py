"""``runner policy``: what a sandbox may use, shown as it will be applied."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from runner.cli.completing import files, policies
from runner.cli.outcome import ending

if TYPE_CHECKING:
    from runner.sandbox.policy import Policy


@click.group("policy")
def command() -> None:
    """List, show and check policies: the caps and fixed settings of a sandbox."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the policies as JSON.")
def list_policies(as_json: bool) -> None:
    """List the policies that come with the program."""
    from runner.sandbox.policy import load_policy, policy_names  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        policies = [load_policy(name) for name in policy_names()]
        if as_json:
            click.echo(json.dumps([{"name": each.name, "sha256": each.digest()} for each in policies]))
            return
        for each in policies:
            said = each.document()
            click.echo(f"{each.name:<10} {each.digest()[:12]}  memory {said['memory']}, pids {each.pids},"
                       f" cpus {each.cpus:g}, work {said['work']['size']}, timeout {each.timeout} s")


@command.command("show")
@click.argument("policy", metavar="NAME|FILE", shell_complete=policies)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: sizes as bytes.")
def show(policy: str, as_json: bool) -> None:
    """Show the effective policy, what it extends included, and its SHA-256."""
    from runner.sandbox.policy import load_policy  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        loaded = load_policy(policy)
        click.echo(_as_json(loaded) if as_json else _as_yaml(loaded), nl=as_json)


@command.command("check")
@click.argument("file", metavar="FILE", shell_complete=files)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def check(file: str, as_json: bool) -> None:
    """Check a policy file: exit code 0, or 2 and one line that says what is wrong."""
    from runner.sandbox.policy import load_policy  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        loaded = load_policy(file)
        if as_json:
            click.echo(json.dumps({"ok": True, "name": loaded.name, "sha256": loaded.digest()}, sort_keys=True))
        else:
            click.echo(f"ok: policy {loaded.name}, sha256 {loaded.digest()}")


def _as_json(policy: Policy) -> str:
    from runner.sandbox.seccomp import profile_sha256  # start-up time

    return json.dumps({"policy": policy.model_dump(mode="json"), "sha256": policy.digest(),
                       "seccomp_sha256": profile_sha256(policy.seccomp)}, sort_keys=True, indent=2)


def _as_yaml(policy: Policy) -> str:
    """A complete policy file: it can be saved and edited."""
    import yaml  # start-up time

    return (f"# sha256 {policy.digest()}\n"
            + yaml.safe_dump(policy.document(), sort_keys=False, default_flow_style=False, allow_unicode=False))
