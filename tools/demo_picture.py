"""Draw docs/img/demo.svg: what `make demo` prints, in colour.

Run ``python tools/demo_picture.py`` after ``make demo``; stored trials make it quick.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COMMAND = ["check", "linear-fractional", "--profile", "quick", "--quiet"]
COLUMNS = 88


def main() -> int:
    """Run the command and draw what it printed; the exit code."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        [sys.executable, "-m", "probatum", *COMMAND],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(done.stdout.strip()))
    drawn = console.export_svg(title="make demo")
    # A picture must not ask a server for its fonts.
    drawn = re.sub(r"@font-face\s*\{.*?\}", "", drawn, flags=re.DOTALL)
    (ROOT / "docs" / "img" / "demo.svg").write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
