"""``probatum doctor``: what is installed and at hand, and what would mend the rest."""

from __future__ import annotations

import os
from typing import Any

from probatum.cli.exits import DONE
from probatum.cli.options import AsJson
from probatum.cli.output import console, print_json, warn
from probatum.evidence.extras import extras, install_line, missing_distributions

__all__ = ["doctor"]


def doctor(as_json: AsJson = False) -> int:
    """Look at Python, optional installs, data and hardware, and say what would mend them."""
    import platform

    found = {
        "python": platform.python_version(),
        "extras": {name: not missing_distributions(name) for name in sorted(extras())},
        "data": _data(),
        "hardware": _hardware(),
    }
    mirror = os.environ.get("PROBATUM_DATA")
    if mirror and not os.path.isdir(mirror):
        warn(f"PROBATUM_DATA is {mirror}, which is no folder: make it, or unset PROBATUM_DATA")
    if as_json:
        print_json(found)
    else:
        _print_findings(found)
    return DONE


def _data() -> dict[str, str]:
    from probatum import data

    return {name: "ready" if data.available(name) else "missing" for name in data.names()}


def _hardware() -> dict[str, Any]:
    import psutil

    return {
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "gpus": _gpus(),
    }


def _gpus() -> list[str]:
    import shutil
    import subprocess

    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        asked = subprocess.run(
            [program, "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in asked.stdout.splitlines() if line.strip()]


def _print_findings(found: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from probatum import data

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    table.add_column()
    table.add_column(overflow="fold", ratio=1)
    hardware = found["hardware"]
    gpus = ", ".join(hardware["gpus"]) or "none seen"
    table.add_row("python", found["python"], "", "")
    table.add_row("cores", str(hardware["cores"]), "", "")
    table.add_row("memory", f"{hardware['memory_gb']} GB", "", "")
    table.add_row("GPUs", gpus, "", "")
    for name, there in found["extras"].items():
        table.add_row("extra", name, _mark(there), "" if there else install_line(name))
    for name, state in found["data"].items():
        there = state == "ready"
        remedy = (
            ""
            if there
            else f"get {data.describe(name).address} and set PROBATUM_DATA to the folder "
            f"that holds {name}/; or it is fetched when first needed"
        )
        table.add_row("data", name, _mark(there), Text(remedy))
    console().print(table)


def _mark(there: bool) -> Any:
    from rich.text import Text

    return Text("ready", style="green") if there else Text("missing", style="yellow")
