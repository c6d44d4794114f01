"""The front door: one file per verb; parses, calls, prints."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from click import Abort, ClickException

from probatum import __version__
from probatum.catalog import UnknownName
from probatum.cli import check, doctor, export, listing, show, status
from probatum.cli.exits import DONE, MISUSED, STOPPED, UNAVAILABLE, Ended
from probatum.cli.options import example
from probatum.cli.output import warn
from probatum.evidence.shipped_index import ShippedError

__all__ = ["main"]

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
    **example("probatum list", "probatum check linear-fractional", "probatum doctor"),
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
        "probatum check --all --strict --json > decisions.json",
    ),
)(check.check)
app.command("status", **example("probatum status", "probatum status --json | jq .stale"))(
    status.status
)
app.command("doctor", **example("probatum doctor"))(doctor.doctor)
app.command(
    "export",
    **example(
        "probatum export linear-fractional -o trials.csv",
        "probatum export --shipped --what decisions -o decisions.json",
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
    except ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _ended(MISUSED, f"{error.format_message()}{hint}")
    except (Abort, KeyboardInterrupt):
        return _ended(STOPPED, "stopped")
    # The parser turns an interrupt that no verb caught into this code.
    return _ended(STOPPED, "stopped") if code == STOPPED else code or DONE


def _ended(code: int, message: str) -> int:
    warn(message)
    return code
