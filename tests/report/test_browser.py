"""What a reader does with the site, done in a real browser: find, read, print, by every means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from browser import DESKTOP, PHONE, Visits, axe, no_sideways_scroll
from synthetic import crowd, make, remember

from probatum.evidence import Paper
from probatum.evidence.shipped_index import read_index
from probatum.evidence.store import Store
from probatum.report import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OPENED = "() => document.querySelectorAll('details').forEach(d => { d.open = true; })"
DRAWN = """() => [...document.querySelectorAll('figure.plot')]
    .filter(figure => !figure.querySelector('.chart svg')).length"""


@dataclass(frozen=True)
class Site:
    """A built site, and what it was built from."""

    folder: Path
    papers: tuple[Paper, ...]
    index: dict[str, Any]

    def verdict(self, paper: Paper, claim: str) -> str:
        """The verdict that the index states."""
        return str(self.index.get(paper.slug, {}).get(claim, {"verdict": "untested"})["verdict"])

    def count(self, paper: Paper, verdict: str, scope: str = "") -> int:
        """Claims of a paper with that verdict, and of that scope where one is named."""
        claims = [c for c in paper.claims if not scope or c.scope == scope]
        return sum(self.verdict(paper, claim.id) == verdict for claim in claims)

    def pages(self) -> list[str]:
        """All pages, relative to the folder."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*.html"))


def built(folder: Path, papers: int, claims: int, **settings: Any) -> Site:
    made = make(folder / "shipped", papers, claims, **settings)
    with Store(f"sqlite:///{folder}/store/evidence.db") as store:
        remember(store, made, folder / "shipped", markup=settings.get("markup", False))
        build(folder / "site", made, shipped=folder / "shipped", store=store)
    return Site(folder / "site", made, read_index(folder / "shipped"))


# The browser is asked for so that nothing is built where there is none.
@pytest.fixture(scope="session")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Papers with every kind of claim, of realistic size; the second is stale."""
    return built(tmp_path_factory.mktemp("site"), 6, 8, stale=(1,))


@pytest.fixture(scope="session")
def marked(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Papers whose every text tries to become markup, script or a template."""
    return built(tmp_path_factory.mktemp("marked"), 2, 16, small=True, markup=True)


@pytest.fixture(scope="session")
def thousand(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A thousand papers, most of them with nothing but claims that nobody could try."""
    folder = tmp_path_factory.mktemp("thousand")
    made = crowd(folder / "shipped", 1000)
    build(folder / "site", made, shipped=folder / "shipped")
    return Site(folder / "site", made, read_index(folder / "shipped"))


def rows(page: Page) -> list[str]:
    """Slugs of the rows that are seen, in their order."""
    seen: list[str] = page.eval_on_selector_all(
        "tr[data-paper]", "rows => rows.filter(r => r.offsetParent).map(r => r.dataset.paper)"
    )
    return seen


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Wait until something is so; the page's policy lets nothing poll inside it."""
    end = perf_counter() + 20
    while not holds():
        assert perf_counter() < end, f"waited in vain until {what}"
        page.wait_for_timeout(20)


def all_drawn(page: Page) -> None:
    until(page, lambda: page.evaluate(DRAWN) == 0, "every plot is drawn")


def tab_to(page: Page, selector: str, most: int = 30) -> int:
    """Press Tab until what is selected has the focus; how often it took."""
    for pressed in range(1, most + 1):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return pressed
    raise AssertionError(f"{selector} was not reached with {most} presses of Tab")


def test_a_search_narrows_the_rows_and_says_how_many_are_left(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    assert sorted(rows(page)) == sorted(paper.slug for paper in site.papers)
    count = page.locator("#count")
    assert count.get_attribute("aria-live") == "polite"
    assert "6 papers" in count.inner_text()
    page.fill("#search", "NUMBER 3")
    assert rows(page) == ["paper-0003"]
    assert "1 paper," in count.inner_text()
    page.fill("#search", "nothing has these words")
    assert rows(page) == []
    assert "No paper" in count.inner_text()


def test_words_of_a_claim_find_its_paper_and_lead_to_it(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    having = {p.slug for p in site.papers if any(c.id == "never" for c in p.claims)}
    page.fill("#search", "bound exceeded instance")
    until(page, lambda: set(rows(page)) == having, "claims are searched")
    slug = sorted(having)[0]
    page.click(f"text={slug}/never")
    assert page.url.endswith(f"papers/{slug}.html#never")


def test_filters_keep_the_papers_that_have_such_a_claim(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    chosen = 0
    for verdict, scope in (("fails", ""), ("fails", "paper"), ("undecided", "proxy")):
        page.select_option("#verdict", verdict)
        page.select_option("#scope", scope)
        expected = {p.slug for p in site.papers if site.count(p, verdict, scope)}
        chosen += 0 < len(expected) < len(site.papers)
        assert set(rows(page)) == expected
        total = sum(site.count(p, verdict, scope) for p in site.papers)
        assert re.search(rf"\b{total} claim", page.locator("#count").inner_text())
    assert chosen, "no filter told papers apart: the test shows nothing"
    page.select_option("#verdict", "")
    page.select_option("#scope", "")
    page.select_option("#domain", site.papers[2].domain)
    assert rows(page) == [site.papers[2].slug]
    page.select_option("#domain", "")
    page.select_option("#fidelity", "abstract")
    expected = {p.slug for p in site.papers if p.fidelity == "abstract"}
    assert set(rows(page)) == expected


def test_rows_are_sorted_by_what_is_chosen(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    titles = {paper.slug: paper.title for paper in site.papers}
    assert rows(page) == sorted(titles, key=lambda slug: titles[slug].casefold())
    page.select_option("#sort", "fails")
    failing = {paper.slug: site.count(paper, "fails") for paper in site.papers}
    shown = [failing[slug] for slug in rows(page)]
    assert shown == sorted(shown, reverse=True)
    assert len(set(shown)) > 1


def test_what_was_chosen_stands_in_the_address(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    page.fill("#search", "synthetic")
    page.select_option("#verdict", "fails")
    page.select_option("#sort", "domain")
    kept, address = rows(page), page.url
    assert "#" in address
    page.reload()
    assert rows(page) == kept
    # Also in another profile, and from a link that names one thing only.
    fragment = address.partition("#")[2]
    assert rows(visits.open(site.folder, f"index.html#{fragment}")) == kept
    other = visits.open(site.folder, "index.html#verdict=fails")
    assert other.input_value("#verdict") == "fails"
    assert set(rows(other)) == {p.slug for p in site.papers if site.count(p, "fails")}


@pytest.mark.parametrize("fragment", ["verdict=%", "verdict=nonsense&x", "%E0%A4%A", "=&&=", "a"])
def test_whatever_an_address_ends_with_the_page_is_there(
    visits: Visits, site: Site, fragment: str
) -> None:
    assert len(rows(visits.open(site.folder, f"index.html#{fragment}"))) == len(site.papers)
    slug = site.papers[0].slug
    page = visits.open(site.folder, f"papers/{slug}.html#{fragment}")
    assert page.locator("section.claim").count() == len(site.papers[0].claims)


def test_everything_is_reached_with_the_keyboard(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    assert tab_to(page, "a[href='#page:main']") == 1
    assert page.locator("a[href='#page:main']").bounding_box()["y"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "page:main"
    tab_to(page, "#search")
    page.keyboard.type("number 4")
    assert rows(page) == ["paper-0004"]
    tab_to(page, "tr[data-paper] a")
    style = page.evaluate("""() => {
        const of = getComputedStyle(document.activeElement);
        return of.outlineStyle !== 'none' && parseFloat(of.outlineWidth) || of.boxShadow !== 'none';
    }""")
    assert style, "the focus is not seen"
    page.keyboard.press("Enter")
    page.wait_for_url("**/papers/paper-0004.html")
    tab_to(page, "section.claim summary", most=120)
    closed = "() => document.activeElement.parentElement.open"
    assert page.evaluate(closed) is False
    page.keyboard.press("Enter")
    assert page.evaluate(closed) is True
    assert page.evaluate(
        "() => document.activeElement.nextElementSibling.getBoundingClientRect().height > 0"
    )
    page.keyboard.press("Space")
    assert page.evaluate(closed) is False


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_link_to_a_claim_opens_at_it(visits: Visits, site: Site, size: tuple[int, int]) -> None:
    paper = site.papers[0]
    claim = paper.claims[4]
    page = visits.open(site.folder, f"papers/{paper.slug}.html#{claim.id}", size=size)
    section = page.locator(f'section.claim[id="{claim.id}"]')

    def at_top() -> bool:
        top: float = section.evaluate("s => s.getBoundingClientRect().top")
        return -5 <= top < size[1] / 2

    # Plots above it take their place afterwards; the claim must not be pushed away for good.
    all_drawn(page)
    until(page, at_top, "the claim is where one looks")
    page.wait_for_timeout(300)
    assert at_top()
    assert claim.statement in section.inner_text()
    assert site.verdict(paper, claim.id) in section.locator(".verdict").first.inner_text()


def test_a_plot_is_drawn_by_the_time_it_is_seen(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder, f"papers/{site.papers[0].slug}.html")
    last = page.locator("section.claim > figure.plot").last
    last.scroll_into_view_if_needed()
    last.locator(".chart svg").wait_for()
    assert last.locator("svg path").count() > 2
    assert last.locator('script[type="application/json"]').count() == 1
    assert last.locator("[role=img]").get_attribute("aria-label")
    all_drawn(page)
    # A plot that could not find its data would draw axes only.
    bare = page.eval_on_selector_all(
        "figure.plot svg",
        "all => all.filter(s => !s.querySelector('.mark-symbol path, .mark-line path')).length",
    )
    assert bare == 0


def test_plots_follow_the_colours_and_the_width(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder, f"papers/{site.papers[0].slug}.html")
    all_drawn(page)
    plot = page.locator("section.claim > figure.plot").first
    light = plot.locator("svg").inner_html()
    page.emulate_media(color_scheme="dark")
    until(page, lambda: plot.locator("svg").inner_html() != light, "it is drawn in dark colours")
    page.set_viewport_size({"width": 500, "height": 800})

    def fits() -> bool:
        box, room = plot.locator("svg").bounding_box(), plot.bounding_box()
        return box is not None and room is not None and box["width"] <= room["width"] + 1

    until(page, fits, "it fits the narrow window")


def test_the_site_is_walked_through_its_links(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder)
    for name in ("verdicts.html", "evidence.html", "own.html", "index.html"):
        page.click(f'nav a[href$="{name}"]')
        page.wait_for_url(f"**/{name}")
        assert page.locator("h1").count() == 1
        assert page.locator('nav [aria-current="page"]').count() == 1
    broken = []
    for name in site.pages():
        page = visits.open(site.folder, name)
        links: list[str] = page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)")
        for link in links:
            if not link.startswith("file://"):
                continue
            path, _, anchor = unquote(link.removeprefix("file://")).partition("#")
            target = Path(path)
            of_paper = target.parent.name == "papers" and anchor
            if not target.is_file() or (
                of_paper and f'id="{anchor}"' not in target.read_text(encoding="utf-8")
            ):
                broken.append((name, link))
        ids: list[str] = page.eval_on_selector_all("[id]", "all => all.map(e => e.id)")
        assert len(ids) == len(set(ids)), f"{name} has an id twice"
    assert broken == []


def test_stale_evidence_is_named(visits: Visits, site: Site) -> None:
    stale = site.papers[1].slug
    assert stale in visits.open(site.folder, "evidence.html").locator("main").inner_text()
    said = visits.open(site.folder, f"papers/{stale}.html").locator("main").inner_text().lower()
    assert "stale" in said
    fresh = visits.open(site.folder, f"papers/{site.papers[0].slug}.html")
    assert "stale" not in fresh.locator("main").inner_text().lower()


def test_without_scripts_nothing_is_hidden(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder, scripts=False)
    assert sorted(rows(page)) == sorted(paper.slug for paper in site.papers)
    assert not page.locator("#search").is_visible()
    paper = site.papers[0]
    page = visits.open(site.folder, f"papers/{paper.slug}.html", scripts=False)
    for claim in paper.claims:
        section = page.locator(f'section.claim[id="{claim.id}"]')
        assert (
            section.locator(".verdict")
            .first.inner_text()
            .strip()
            .endswith(site.verdict(paper, claim.id))
        )
        assert section.locator("table").count() > 0 or claim.experiment is None
    # What is folded away opens without any script.
    details = page.locator("section.claim details:has(table)").first
    details.locator("summary").click()
    assert details.locator("table").first.is_visible()
    for name in ("verdicts.html", "evidence.html", "own.html"):
        text = visits.open(site.folder, name, scripts=False).locator("main").inner_text()
        assert len(text) > 100


def test_who_prefers_less_motion_gets_none(visits: Visits, site: Site) -> None:
    for name in ("index.html", f"papers/{site.papers[0].slug}.html"):
        page = visits.open(site.folder, name, calm=True)
        moving = page.evaluate("""() => [...document.querySelectorAll('*')].filter(e => {
            const of = getComputedStyle(e);
            return [...of.transitionDuration.split(','), ...of.animationDuration.split(',')]
                .some(s => parseFloat(s) > 0.01);
        }).length""")
        assert moving == 0
        smooth = page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")
        assert smooth == "auto"


def test_on_paper_nothing_is_closed_and_nothing_is_dark(visits: Visits, site: Site) -> None:
    page = visits.open(site.folder, f"papers/{site.papers[0].slug}.html", dark=True)
    inside = page.locator("section.claim details table").first
    assert not inside.is_visible()
    page.emulate_media(media="print")
    until(page, inside.is_visible, "what is closed is open on paper")
    assert page.locator("details:not([open])").count() == 0
    assert not page.locator("header.site nav").is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    channels = [float(n) for n in re.findall(r"[\d.]+", background)]
    assert channels[:3] == [255, 255, 255] or (len(channels) == 4 and channels[3] == 0)
    page.emulate_media(media="screen")
    until(page, lambda: not inside.is_visible(), "it is closed again on the screen")


LOOKS = {
    "desktop, light": (DESKTOP, False),
    "desktop, dark": (DESKTOP, True),
    "phone, light": (PHONE, False),
    "phone, dark": (PHONE, True),
}


KINDS_OF_PAGES = ("index", "verdicts", "evidence", "own", "papers/paper-0001")
# The other mix of claims adds no kind of page: twice is enough.
LOOKED_AT = [(name, look) for name in KINDS_OF_PAGES for look in LOOKS]
LOOKED_AT += [("papers/paper-0002", "desktop, light"), ("papers/paper-0002", "phone, dark")]


@pytest.mark.parametrize(("name", "look"), LOOKED_AT)
def test_axe_finds_nothing_serious(visits: Visits, site: Site, name: str, look: str) -> None:
    size, dark = LOOKS[look]
    page = visits.open(site.folder, f"{name}.html", size=size, dark=dark)
    all_drawn(page)
    page.evaluate(OPENED)
    assert axe(page) == []


def test_no_page_scrolls_sideways_on_a_phone(visits: Visits, site: Site, marked: Site) -> None:
    wide = []
    for folder, name in ((of.folder, name) for of in (site, marked) for name in of.pages()):
        page = visits.open(folder, name, size=PHONE)
        all_drawn(page)
        for change in ("() => undefined", OPENED):
            page.evaluate(change)
            try:
                no_sideways_scroll(page)
            except AssertionError as error:
                wide.append(str(error))
        page.close()
    assert not wide, "\n".join(wide)


INJECTED = """() => {
    const found = [...document.querySelectorAll('[data-injected], img, iframe, object, embed')];
    for (const e of document.querySelectorAll('*'))
        for (const a of e.attributes)
            if (a.name.startsWith('on') || /^(src|.*href|action)$/.test(a.name)
                && /^\\s*javascript:/i.test(a.value)) found.push(e);
    if ('injected' in window) found.push(document.documentElement);
    return found.map(e => e.outerHTML.slice(0, 300));
}"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_text_never_becomes_markup(visits: Visits, marked: Site, scripts: bool) -> None:
    for name in marked.pages():
        page = visits.open(marked.folder, name, scripts=scripts)
        if scripts:
            all_drawn(page)
        page.evaluate(OPENED)
        assert page.evaluate(INJECTED) == [], name


def test_text_with_markup_is_shown_as_it_is(visits: Visits, marked: Site) -> None:
    paper = marked.papers[0]
    page = visits.open(marked.folder, f"papers/{paper.slug}.html")

    def plain(text: str) -> str:
        return " ".join(text.split())

    assert plain(paper.title) in plain(page.locator("h1").inner_text())
    said = plain(page.locator("main").text_content() or "")
    for text in (paper.summary, paper.audience, *(c.statement for c in paper.claims)):
        assert plain(text) in said
    assert page.title().startswith(paper.title[:20])
    # A search shows statements through scripts.
    page = visits.open(marked.folder)
    page.fill("#search", "bound never exceeded")
    page.locator("#found li").first.wait_for()
    assert "window.injected" in page.locator("#found").inner_text()
    assert page.evaluate(INJECTED) == []
    domain = paper.domain
    page.fill("#search", "")
    page.select_option("#domain", domain)
    assert paper.slug in rows(page)
    page.reload()
    assert page.input_value("#domain") == domain
    assert page.evaluate(INJECTED) == []


def test_a_thousand_papers_are_filtered_as_one_types(visits: Visits, thousand: Site) -> None:
    page = visits.open(thousand.folder)
    assert len(rows(page)) == 1000
    wanted = {p.slug for p in thousand.papers if "other" in p.slug and "77" in p.slug}
    page.focus("#search")
    page.keyboard.type("othe")
    started = perf_counter()
    page.keyboard.type("r- 77")
    until(page, lambda: set(rows(page)) == wanted, "the rows are those that match")
    took = perf_counter() - started
    # A bound for a reader's patience on a busy machine, not a measurement.
    assert took < 4.0
    page.fill("#search", "")
    assert len(rows(page)) == 1000
