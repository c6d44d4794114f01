"""``probatum use``: a method on a person's own files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from probatum import catalog
from probatum.catalog import Catalog, UnknownName, nearest
from probatum.cli.exits import DONE, MISUSED, STOPPED, UNAVAILABLE, Ended, os_error_line
from probatum.cli.options import AsJson, example
from probatum.cli.output import console, print_json, warn, warn_broken
from probatum.cli.progress import Bar
from probatum.evidence import Answer, Paper, Tool
from probatum.evidence.extras import install_line
from probatum.evidence.model import resolve

__all__ = ["use"]


def use(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A tool; without one they are listed.")
    ] = None,
) -> int:
    """Use a method on your own files. `probatum use NAME --help` says what it takes."""
    loaded = catalog.load()
    tools = {tool.name: (paper, tool) for paper in loaded.papers for tool in paper.tools}
    if name is None or name in ("-h", "--help"):
        _print_tools(loaded, context if name else None)
        return DONE
    if name not in tools:
        warn_broken(loaded)
        raise UnknownName(nearest("tool", name, list(tools), "probatum use"))
    paper, tool = tools[name]
    command = typer.main.get_command(_app(paper, tool))
    code = command.main(
        args=list(context.args), prog_name=f"probatum use {name}", standalone_mode=False
    )
    return code or DONE


def _print_tools(loaded: Catalog, context: typer.Context | None) -> None:
    from rich.table import Table
    from rich.text import Text

    if context is not None:
        print(context.get_help())
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("tool", overflow="fold")
    table.add_column("what it does", ratio=1)
    for paper in loaded.papers:
        for tool in paper.tools:
            table.add_row(tool.name, Text(tool.summary))
    out = console()
    out.print(table)
    out.print("\nMore: probatum use TOOL --help")


def _app(paper: Paper, tool: Tool) -> typer.Typer:
    """A command whose arguments and options are those of the tool's function."""
    try:
        run = resolve(tool.run)
    except ImportError as error:
        raise Ended(UNAVAILABLE, _missing(paper, error)) from error
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(tool.name, **example(f"probatum use {tool.name} {tool.example}"))(
        _command(paper, tool, run)
    )
    return app


def _command(paper: Paper, tool: Tool, run: Callable[..., Answer]) -> Callable[..., int]:
    hints = get_type_hints(run, include_extras=True)
    parameters = [
        parameter.replace(annotation=_annotation(parameter, hints[name]))
        for name, parameter in inspect.signature(run).parameters.items()
        if name != "progress"
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    extra = [
        inspect.Parameter("as_json", keyword, default=False, annotation=AsJson),
        inspect.Parameter(
            "quiet",
            keyword,
            default=False,
            annotation=Annotated[bool, typer.Option("--quiet", help="No progress.")],
        ),
    ]

    def command(**given: Any) -> int:
        as_json, quiet = given.pop("as_json"), given.pop("quiet")
        with Bar(tool.name, quiet) as bar:
            if "progress" in hints:
                given["progress"] = bar
            answer = _answered(paper, tool, run, given)
        _print(paper, tool, answer, as_json, bar.seconds)
        return UNAVAILABLE if answer.incomplete else DONE

    command.__doc__ = tool.summary + "\n\n" + _details(run)
    command.__signature__ = inspect.Signature([*parameters, *extra])  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in [*parameters, *extra]}
    return command


def _details(run: Callable[..., Answer]) -> str:
    """What the function's docstring says beyond its first line, up to its sections."""
    text = inspect.getdoc(run) or ""
    body = text.partition("\n\n")[2].partition("\nParameters\n")[0]
    return body.partition("\nRaises\n")[0].partition("\nReturns\n")[0].strip()


def _annotation(parameter: inspect.Parameter, hint: Any) -> Any:
    """A parameter as the parser wants it: help from the annotation, options with their names."""
    kind, words = hint, ""
    if get_origin(hint) is Annotated:
        kind, words = get_args(hint)[0], str(get_args(hint)[1])
    if parameter.kind is not parameter.KEYWORD_ONLY:
        return Annotated[kind, typer.Argument(help=words, show_default=False)]
    name = f"--{parameter.name.rstrip('_').replace('_', '-')}"
    if kind is bool:
        return Annotated[kind, typer.Option(f"{name}/--no-{name[2:]}", help=words)]
    names = (name, "-o") if parameter.name == "output" else (name,)
    shown = parameter.default not in (None, parameter.empty, "")
    return Annotated[kind, typer.Option(*names, help=words, show_default=shown)]


def _answered(
    paper: Paper, tool: Tool, run: Callable[..., Answer], given: dict[str, Any]
) -> Answer:
    """What the tool answers; its errors end the command with one line."""
    try:
        answer: Any = run(**given)
    except ImportError as error:
        raise Ended(UNAVAILABLE, _missing(paper, error)) from error
    except OSError as error:
        raise Ended(UNAVAILABLE, os_error_line(error)) from error
    except (ValueError, TypeError) as error:
        raise Ended(MISUSED, f"{str(error) or type(error).__name__}") from error
    except MemoryError as error:
        raise Ended(UNAVAILABLE, f"{tool.name}: not enough memory") from error
    except KeyboardInterrupt:
        raise Ended(STOPPED, "stopped; nothing was written") from None
    except Exception as error:
        # Loaders say with a `remedy` what would mend it.
        if getattr(error, "remedy", ""):
            raise Ended(UNAVAILABLE, str(error)) from error
        raise
    if not isinstance(answer, Answer):
        kind = type(answer).__name__
        raise Ended(UNAVAILABLE, f"{tool.name}: {tool.run} gave no answer but a {kind}")
    return answer


def _missing(paper: Paper, error: ImportError) -> str:
    if getattr(error, "remedy", "") or not error.name:
        return str(error)
    return f"{error.name} is not installed: {install_line(*(paper.extras or ('all',)))}"


def _print(paper: Paper, tool: Tool, answer: Answer, as_json: bool, seconds: float) -> None:
    if as_json:
        print_json(
            {
                "tool": tool.name,
                "paper": paper.slug,
                "values": dict(answer.values),
                "files": [str(file) for file in answer.files],
                "warnings": list(answer.warnings),
                "incomplete": answer.incomplete,
                "seconds": round(seconds, 3),
            }
        )
    else:
        out = console()
        for line in answer.lines:
            out.print(line, soft_wrap=True)
        for file in answer.files:
            out.print(f"written: {file}", soft_wrap=True)
    for warning in answer.warnings:
        warn(warning)
    if answer.incomplete:
        warn(answer.incomplete)
