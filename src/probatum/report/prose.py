"""Markdown as HTML that a page can hold, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

__all__ = ["to_html"]

NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class _Safe(MarkdownIt):
    """Markdown whose links lead to the web, to a file beside the page, or to a place in it."""

    def validateLink(self, url: str) -> bool:
        """Refuse every scheme but the web's, and another host without a scheme."""
        if re.match(r"https?://", url, re.IGNORECASE):
            return True
        before = re.split(r"[/?#]", url, maxsplit=1)[0]
        return not url.startswith("//") and ":" not in before


class _Renderer(RendererHTML):
    """Plain tags: no styles, which a page's policy forbids, and nothing that loads anything."""

    def image(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        """An image's text alternative."""
        children = tokens[idx].children or []
        return str(escape(self.renderInlineAsText(children, options, env)))

    def fence(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        """Code, which a keyboard can scroll."""
        return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'

    code_block = fence

    def table_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        """A table in a box that scrolls, named by the table's head."""
        names = []
        for token in tokens[idx:]:
            if token.type == "thead_close":
                break
            if token.type == "inline":
                names.append(self.renderInlineAsText(token.children or [], options, env).strip())
        label = escape("Table of " + ", ".join(name for name in names if name))
        return f'<div class="table" tabindex="0" role="group" aria-label="{label}">\n<table>\n'

    def table_close(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        """The end of a table and of its box."""
        return "</table>\n</div>\n"


@cache
def _parser() -> MarkdownIt:
    return _Safe("commonmark", {"html": False}).enable("table")


def to_html(markdown: str) -> Markup:
    """Markdown (CommonMark and tables) as HTML.

    Tags in the text come out as text, images as their text alternative, and links that lead
    elsewhere than to the web or to a relative address as they were written. Headings have ids;
    tables lie in ``<div class="table">``.

    Parameters
    ----------
    markdown : str

    Returns
    -------
    markupsafe.Markup

    Examples
    --------
    >>> print(to_html("## Two *words*\\n\\n<b onclick=x>no</b> [yes](https://example.org)"))
    <h2 id="two-words">Two <em>words</em></h2>
    <p>&lt;b onclick=x&gt;no&lt;/b&gt; <a href="https://example.org">yes</a></p>
    <BLANKLINE>
    """
    if not isinstance(markdown, str):
        raise TypeError(f"markdown must be a str, got {type(markdown).__name__}")
    parser = _parser()
    # What no encoding can hold is shown as what it is: a letter that was lost.
    text = markdown.encode("utf-8", "replace").decode("utf-8")
    tokens = parser.parse(text)
    renderer = _Renderer(parser)
    taken: set[str] = set()
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = renderer.renderInlineAsText(tokens[at + 1].children or [], parser.options, {})
            token.attrSet("id", _name(title, taken))
        elif token.type == "th_open":
            token.attrs = {"scope": "col"}
        elif token.type == "td_open":
            token.attrs = {}
    # The parser escapes what is no Markdown, and takes no HTML.
    escaped = renderer.render(tokens, parser.options, {})
    return Markup(escaped)  # nosec B704


def _name(title: str, taken: set[str]) -> str:
    """Name of a place in the page, after its heading."""
    base = NOT_IN_A_NAME.sub("-", title.lower()).strip("-") or "section"
    name, times = base, 1
    while name in taken:
        times += 1
        name = f"{base}-{times}"
    taken.add(name)
    return name
