"""Text that would become markup, script or a template wherever it is not escaped.

Each piece that could become an element carries the attribute ``data-injected``, and each that could
run sets ``window.injected``: that is how a page is told from one that was broken into.
"""

from __future__ import annotations

__all__ = ["PIECES", "hostile"]

PIECES = (
    '<img src=x onerror="window.injected=\'{0}\'" data-injected="{0}">',
    "\"><script data-injected>window.injected='{0}'</script>",
    "</script><script data-injected>window.injected='{0}'</script>",
    "{{{{7*7}}}} {{% raw %}} ${{7*7}} <%= 7*7 %>",
    "javascript:window.injected='{0}'",
    "&lt;b data-injected&gt;&amp;lt;&#60;b data-injected&#62;",
    "line\u2028window.injected='{0}'\u2029end",
    "' onmouseover='window.injected=1' autofocus onfocus='window.injected=1' data-injected='{0}",
    '" onmouseover="window.injected=1" autofocus onfocus="window.injected=1" data-injected="{0}',
    "</title></style></textarea><svg data-injected onload=\"window.injected='{0}'\">",
    "<!-- --><b data-injected>{0}</b>]]><![CDATA[",
    "[x](javascript:window.injected='{0}') ![x](http://localhost/{0}.png) `</code>`",
    "datum['{0}'] + length(data('x')) \\u003cb data-injected\\u003e \\",
)


def hostile(field: str, at: int) -> str:
    """Three pieces, each naming the field that they come from; ``at`` turns the wheel.

    Examples
    --------
    >>> "window.injected='title'" in hostile("title", 0)
    True
    """
    chosen = (PIECES[(at + step) % len(PIECES)] for step in (0, 5, 9))
    return " ".join(piece.format(field) for piece in chosen)
