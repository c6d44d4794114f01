"""Markdown becomes plain HTML: nothing injected survives as a tag, an attribute or a scheme."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from probatum.report.prose import to_html

ALLOWED = {
    "a": {"href", "title"},
    "blockquote": set(),
    "br": set(),
    "code": set(),
    "div": {"class", "tabindex", "role", "aria-label"},
    "em": set(),
    **{f"h{level}": {"id"} for level in range(1, 7)},
    "hr": set(),
    "li": set(),
    "ol": {"start"},
    "p": set(),
    "pre": {"tabindex"},
    "strong": set(),
    "table": set(),
    "tbody": set(),
    "td": set(),
    "th": {"scope"},
    "thead": set(),
    "tr": set(),
    "ul": set(),
}
VOID = {"br", "hr"}
NASTY = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<svg/onload=alert(1)>",
    "<style>*{}</style>",
    "<!-- x -->",
    "<?php ?>",
    "<![CDATA[x]]>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&colon;alert(1))",
    "[a](java&#10;script:alert(1))",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "[a](//evil.example/x)",
    "[a](\\\\evil.example)",
    "[a](file:///etc/passwd)",
    '[a](x "\\" onmouseover=\\"y")',
    "[a]: javascript:x 'y'",
    "[a]",
    "![x](y.png)",
    '![" onload="x](javascript:y "z")',
    "<javascript:alert(1)>",
    "<a@b.example>",
    '<https://example.org/">',
    '| a<b> | " onclick=x |\n| :-: | --: |\n| <i>x</i> | [q](javascript:x) |\n',
    '```js" onclick="x\n</code></pre><b>\n```\n',
    "    </pre><b>\n",
    '# " id=x <b>\n',
    "\x00",
    "\ud800",
    "\n\n",
    "> ",
    "1. ",
    "`",
)


class Seen(HTMLParser):
    """Every tag and attribute of a text, and whether tags close in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        self.tags.append(tag)
        for name, value in attrs:
            assert name in ALLOWED[tag], (tag, name)
            assert value is not None
            if name == "href":
                address = re.sub(r"[\x00-\x20]", "", value).lower()
                assert address.startswith(("http://", "https://")) or not re.match(
                    r"//|\\|[^/?#]*:", address
                ), value
            if name == "id":
                assert re.fullmatch(r"[a-z0-9-]+", value)
                self.ids.append(value)
            if name == "class":
                assert value == "table"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(markdown: str) -> Seen:
    parser = Seen()
    parser.feed(str(to_html(markdown)))  # Markup would escape what it is joined with
    parser.close()
    assert not parser.open
    assert len(set(parser.ids)) == len(parser.ids)
    return parser


@pytest.mark.parametrize("nasty", NASTY)
def test_each_injection_is_text(nasty: str) -> None:
    seen(nasty)


@given(
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=20)), max_size=8),
    st.sampled_from(["", " ", "\n", "\n\n", "|"]),
)
@example(NASTY, "\n\n")
def test_no_injection_survives(parts: list[str], between: str) -> None:
    seen(between.join(parts))


def test_what_is_shown_is_what_was_written() -> None:
    page = seen("A <b>tag</b>, `<code>` and ![a *picture*](x.png) & more")
    assert page.text.strip() == "A <b>tag</b>, <code> and a picture & more"
    assert page.tags == ["p", "code"]


@pytest.mark.parametrize(
    ("address", "is_link"),
    [
        ("https://example.org/a?b=c&d", True),
        ("HTTP://example.org", True),
        ("papers/a.html#b", True),
        ("#place", True),
        ("../a:b", True),
        ("a:b", False),
        ("http:a", False),
        ("mailto:a@example.org", False),
        ("//example.org", False),
    ],
)
def test_where_links_may_lead(address: str, is_link: bool) -> None:
    assert ("a" in seen(f"[x]({address})").tags) == is_link


def test_headings_have_names_of_their_own() -> None:
    assert seen("# One two\n\n## One `two`\n\n### ⟨⟩\n").ids == ["one-two", "one-two-2", "section"]


def test_tables_lie_in_a_named_box_without_styles() -> None:
    html = to_html('| "a" | b |\n| :-: | --: |\n| 1 | 2 |\n')
    label = 'aria-label="Table of &#34;a&#34;, b"'
    assert f'<div class="table" tabindex="0" role="group" {label}>\n<table>' in html
    assert "style" not in html
    assert html.count('scope="col"') == 2


def test_only_text_is_taken() -> None:
    with pytest.raises(TypeError, match="must be a str, got bytes"):
        to_html(b"x")  # type: ignore[arg-type]


def test_the_projects_own_pages_are_rendered_whole() -> None:
    docs = Path(__file__).parents[2] / "docs"
    for page in ("architecture.md", "json.md"):
        assert seen((docs / page).read_text(encoding="utf-8")).text
