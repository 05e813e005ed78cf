"""``runner export``: stored evidence in the formats of others, signed if wanted; and the check of a signature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.cli.completing import runs
from runner.cli.outcome import ending
from runner.errors import SignatureInvalid, UsageError, printable
from runner.reports.formats import FORMATS

if TYPE_CHECKING:
    from securesystemslib.signer import Signer

_MAX_SIGNED = 1 << 30
_FILE = click.Path(path_type=Path)


class _ExportOrVerify(click.Command):
    """Exports, unless the first word is ``verify``. A run directory of that name is ``./verify``."""

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None,
                     **extra: Any) -> click.Context:
        if args[:1] == ["verify"]:
            return verify.make_context(f"{info_name} verify", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_usage(ctx, formatter)
        formatter.write_usage(f"{ctx.command_path} verify", "[OPTIONS] FILE", prefix="       ")


@click.command("export", cls=_ExportOrVerify)
@click.argument("run", shell_complete=runs)
@click.option("--format", "form", type=click.Choice(list(FORMATS)), required=True, help="What to make of the evidence.")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Write it there, whole or not at all.  "
              "[default: standard output]")
@click.option("--sign", type=_FILE, metavar="KEY", help="Put it into a DSSE envelope signed by this private key (PEM).")
def command(run: str, form: str, output: Path | None, sign: Path | None) -> None:
    """Export the evidence of RUN: an id, the beginning of one, `latest`, or a run directory.

    Every digest is computed again first; evidence that was altered is refused. The verdict does not
    matter here: exit code 0 means exported, 2 refused.

    `runner export verify FILE --key PUB` checks what --sign made.
    """
    from runner.evidence.check import open_evidence  # start-up time: pydantic is slow to load
    from runner.evidence.database import store_root  # likewise
    from runner.evidence.index import find_run

    with ending(as_json=False):
        directory = find_run(run, store_root())
        if output is not None:
            _check_place(output, directory)
        signer = _signer(sign) if sign is not None else None
        document = FORMATS[form].render(open_evidence(directory)).encode()
        if signer is not None:
            from runner.reports.envelope import sign as sign_document  # start-up time: cryptography is slow to load

            document = sign_document(document, FORMATS[form].media_type, signer)
        _write(output, document)


@click.command("verify")
@click.argument("file", type=_FILE)
@click.option("--key", type=_FILE, required=True, metavar="PUB", help="The signer's public key (PEM).")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Write what was signed there, once it is verified.")
@click.option("--json", "as_json", is_flag=True, help="Print what is signed as JSON.")
def verify(file: Path, key: Path, output: Path | None, as_json: bool) -> None:
    """Check that FILE, made by `runner export … --sign`, was signed by a key, and print what is signed.

    The evidence itself is not looked at. Exit code: 0 the key signed it, 2 it did not.
    """
    from runner.reports.attested import attested, attested_text  # start-up time: cryptography is slow to load
    from runner.reports.envelope import open_signed
    from runner.reports.keys import read_public_key

    with ending(as_json=as_json):
        keys = read_public_key(key)
        signed = open_signed(_read(file), keys)
        if output is not None:
            _check_target(output, file)
            _write(output, signed.payload)
        said = attested(signed)
        if as_json:
            click.echo(json.dumps({"ok": True, **said}, sort_keys=True))
            return
        click.echo(f"VERIFIED: signed by {printable(str(key))}")
        for label, value in attested_text(said):
            click.echo(f"{label:<12} {printable(value)}")


def _signer(path: Path) -> Signer:
    from runner.reports.keys import read_private_key  # start-up time: cryptography is slow to load

    key = read_private_key(path)
    if key.exposed:
        click.echo(f"runner: WARNING: {printable(str(path))}: everybody on this machine can read this private key "
                   "(`chmod 600` ends that)", err=True)
    return key.signer


def _check_place(output: Path, directory: Path) -> None:
    """Before any work is done. Nothing is added to evidence, and nothing of it replaced."""
    from runner.evidence.files import check_destination  # start-up time

    check_destination(output)
    if output.resolve().is_relative_to(directory.resolve()):
        raise UsageError(f"{printable(str(output))}: lies in the run directory, in which nothing changes",
                         hint="write the export elsewhere")


def _check_target(output: Path, source: Path) -> None:
    """What was verified is not replaced by what it holds, and evidence by nothing."""
    if output.resolve() == source.resolve():
        raise UsageError(f"{printable(str(output))}: is the file that was verified", hint="name another one with -o")
    if all((output.absolute().parent / name).exists() for name in ("result.json", "events.jsonl")):
        _check_place(output, output.absolute().parent)


def _write(output: Path | None, data: bytes) -> None:
    from runner.evidence.files import write_atomically  # start-up time

    if output is None:
        click.echo(data, nl=False)
    else:
        write_atomically(output, data, mode=0o644)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            raw = opened.read(_MAX_SIGNED + 1)
    except OSError as error:
        raise UsageError(f"{printable(str(file))}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{printable(str(file))}: not a usable file name") from None
    if len(raw) > _MAX_SIGNED:
        raise SignatureInvalid(f"{printable(str(file))}: larger than any export")
    return raw
