"""The front door: one file per verb; parses, calls, prints."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from probatum import __version__
from probatum.catalog import UnknownName
from probatum.cli import check, doctor, export, listing, new, report, show, status, use
from probatum.cli.exits import (
    DONE,
    MISUSED,
    PIPE_CLOSED,
    STOPPED,
    TERMINATED,
    UNAVAILABLE,
    Ended,
    terminable,
)
from probatum.cli.options import example, examples
from probatum.cli.output import warn
from probatum.evidence.shipped_index import ShippedError

__all__ = ["main"]

# Newer versions of typer carry a click of their own: this is the one in use.
_USAGE_ERRORS: tuple[type[Any], ...] = tuple(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(
    name="probatum",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"probatum {__version__}")
        raise typer.Exit()


@app.callback(
    invoke_without_command=True,
    epilog=examples("probatum list", "probatum check linear-fractional", "probatum doctor"),
)
def probatum(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> int:
    """Every method importable, every claim executable."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        return MISUSED
    return DONE


app.command("list", **example("probatum list", "probatum list --json | jq '.papers[].slug'"))(
    listing.list_papers
)
app.command("show", **example("probatum show linear-fractional"))(show.show)
app.command(
    "check",
    **example(
        "probatum check linear-fractional --plan",
        "probatum check linear-fractional --profile quick --jobs 4",
        "probatum check linear-fractional --data mine.csv --target y",
        "probatum check linear-fractional --arm mine=my_package:MyClassifier",
        "probatum check --all --strict --json > decisions.json",
    ),
)(check.check)
app.command(
    "use",
    # A tool parses its own arguments, and answers to --help itself.
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": [],
    },
    **example("probatum use", "probatum use linear-fractional train.csv --target y"),
)(use.use)
app.command("status", **example("probatum status", "probatum status --json | jq .stale"))(
    status.status
)
app.command(
    "new",
    **example('probatum new my-paper --domain supervised --title "My paper" --name MyMethod'),
)(new.new)
app.command(
    "report", **example("probatum report --open", "probatum report --out site --store team.db")
)(report.report)
app.command("doctor", **example("probatum doctor"))(doctor.doctor)
app.command(
    "export",
    **example(
        "probatum export linear-fractional -o trials.csv",
        "probatum export --shipped --what decisions -o decisions.json",
        "probatum export linear-fractional --shipped --what citations -o cite.bib",
    ),
)(export.export)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            # A terminal that lacks a character must not end a command.
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _called(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as error:
        # Click and rich turn a broken pipe into the end of the process.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return _unwritable(error.__context__)
    except OSError as error:
        return _unwritable(error)


def _called(arguments: Sequence[str] | None) -> int:
    with terminable() as signals:
        code = _parsed(arguments)
    if code == STOPPED and signals:
        return TERMINATED
    return code


def _parsed(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="probatum",
            standalone_mode=False,
        )
    except Ended as error:
        return _ended(error.code, str(error))
    except UnknownName as error:
        return _ended(MISUSED, str(error))
    except ShippedError as error:
        return _ended(UNAVAILABLE, str(error))
    except _USAGE_ERRORS as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _ended(MISUSED, f"{error.format_message()}{hint}")
    except (typer.Abort, KeyboardInterrupt):
        return _ended(STOPPED, "stopped")
    # The parser turns an interrupt that no verb caught into this code.
    return _ended(STOPPED, "stopped") if code == STOPPED else code or DONE


def _unwritable(error: OSError) -> int:
    """End where output can't be written; what is left of it goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    where = f"{error.filename}: " if error.filename else ""
    return _ended(UNAVAILABLE, f"can't read or write: {where}{error.strerror or error}")


def _ended(code: int, message: str) -> int:
    warn(message)
    return code
