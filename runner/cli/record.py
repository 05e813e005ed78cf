"""``runner record``: learn a failure's contract and write a report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Literal

import click

from runner.case import RequestedLimits
from runner.cli.completing import directories, policies
from runner.cli.outcome import ending, leave
from runner.cli.progress import RunProgress
from runner.cli.verbose import telling, verbose_option
from runner.controller.record import Recording, RecordRequest, record
from runner.controller.write import write_report
from runner.errors import ExitCode, UsageError, printable
from runner.evidence.files import check_destination, check_outside
from runner.oracles.contract import Contract
from runner.oracles.signature.learn import SignatureKind
from runner.sandbox.sizes import parse_size
from runner.workloads.command import CommandWorkload

_REPOMIN_ENV = (("REPOMIN", "1"),)


@click.command("record", context_settings={"show_default": True, "ignore_unknown_options": False})
@click.option("--payload", required=True, metavar="DIR", shell_complete=directories,
              help="The directory that the command runs in.")
@click.option("--command", "text", required=True, metavar="CMD", help="What fails, as you would type it.")
@click.option("--argv", is_flag=True, help="Split CMD into words and run it without a shell.")
@click.option("--cwd", default=".", metavar="DIR", help="Working directory, relative to the payload.")
@click.option("--match", metavar="RE", help="A regular expression that the output must match.")
@click.option("--exit-code", type=int, metavar="N", help="The expected exit code; learned if not said.")
@click.option("--signature", type=click.Choice(["auto", "python", "java", "process", "none"]), default="auto",
              help="Which failure signature to learn.")
@click.option("--image", metavar="NAME", help="A local image; pinned by its ID. Default: our command image.")
@click.option("--runs", default=3, metavar="N", help="Fresh runs; all must fail alike.")
@click.option("--timeout", type=float, metavar="SEC", help="Seconds per run; the policy's if not said.")
@click.option("--memory", metavar="SIZE", help="A memory limit below the policy's, such as 512MiB.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable; only its name and a digest are kept.")
@click.option("--backend", type=click.Choice(["docker", "host"]), default="docker", help="host is no sandbox.")
@click.option("--policy", default="default", metavar="NAME|FILE", shell_complete=policies,
              help="The policy to record under.")
@click.option("--artifact", "artifacts", multiple=True, metavar="GLOB", help="A file to keep after each run.")
@click.option("--format", "form", type=click.Choice(["native", "repomin"]), default="native", help="Report format.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The report; with a name that ends in .repro, a bundle of report and payload.")
@click.option("--quiet", is_flag=True, help="No progress.")
@verbose_option
def command(text: str, argv: bool, cwd: str, artifacts: tuple[str, ...],
            signature: SignatureKind | Literal["none"], memory: str | None,
            form: Literal["native", "repomin"], output: Path, quiet: bool, verbose: bool, **options: Any) -> None:
    """Run a failing command on fresh copies of a payload, learn what makes it this failure, write a report.

    With -o NAME.repro, report and payload become one file to attach.

    A failure that differs from run to run is refused (exit 3), and so is a contract that anything would meet.
    """
    with ending(as_json=False):
        request = RecordRequest(
            workload=_workload(text, argv, cwd, artifacts),
            signature=None if signature == "none" else signature,
            limits=RequestedLimits(memory=_size(memory)),
            fixed_env=_REPOMIN_ENV if form == "repomin" else (), **options)
        check_destination(output)
        check_outside(output, request.payload, "write it elsewhere with -o")
        if request.backend == "host":
            click.echo("runner: WARNING: running on this host, outside any sandbox", err=True)
        with telling(verbose=verbose), RunProgress(request.runs, quiet=quiet, plain=verbose) as progress:
            recording = record(request, progress=progress.observed)
        write_report(recording, form, output)
        click.echo(_summary(recording, output))
        leave(ExitCode.OK)


def _workload(text: str, argv: bool, cwd: str, artifacts: tuple[str, ...]) -> CommandWorkload:
    if not text.strip() or "\0" in text:
        raise UsageError("--command: is empty or has a NUL", hint="give the command that fails")
    if not _is_text(text):
        raise UsageError("--command: is not UTF-8, or this locale does not read it as such",
                         hint="try again with LC_ALL=C.UTF-8")
    if cwd.startswith("/") or ".." in Path(cwd).parts:
        raise UsageError(f"--cwd {printable(cwd)}: must stay inside the payload")
    if not argv:
        return CommandWorkload(shell=text, cwd=cwd, artifacts=artifacts)
    try:
        return CommandWorkload(argv=tuple(shlex.split(text)), cwd=cwd, artifacts=artifacts)
    except ValueError as error:
        raise UsageError(f"--command: {error}", hint="check the quotes") from None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _summary(recording: Recording, output: Path) -> str:
    contract = recording.contract
    lines = [f"RECORDED: {len(recording.observations)} of {len(recording.observations)} runs failed alike",
             f"command      {printable(recording.request.workload.display)}",
             f"exit code    {_exit_code(contract)}"]
    if contract.match:
        lines.append(f"match        {printable(contract.match)}")
    if contract.signature is not None:
        lines.append(f"signature    {printable(_signature(recording))}")
    if recording.image is not None:
        lines.append(f"image        {recording.image.id} ({recording.image.name})")
    lines.append(f"report       {printable(str(output))}")
    return "\n".join(lines)


def _size(text: str | None) -> int | None:
    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise UsageError(f"--memory {printable(text or '')[:60]}: {error}") from None


def _exit_code(contract: Contract) -> str:
    if contract.exit_code is not None:
        return str(contract.exit_code)
    process = contract.signature is not None and contract.signature.kind == "process"
    return "as the signature says" if process else "any but 0"


def _signature(recording: Recording) -> str:
    signature = recording.contract.signature
    assert signature is not None
    if signature.kind == "process":
        return f"process: {signature.process_kind} {signature.code}"
    return f"{signature.kind}: {signature.class_name}: {signature.message} at {', '.join(signature.frames)}"
