"""The site as files: whole, the same every time, brought up to date page by page, escaped."""

from __future__ import annotations

import hashlib
import html.parser
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from synthetic import make, remember

from probatum.evidence import Paper
from probatum.evidence.store import Store
from probatum.report import Built, NotASite, build
from probatum.report import site as site_module

Papers = tuple[Paper, ...]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Papers, Path]:
    folder = tmp_path_factory.mktemp("shipped")
    return make(folder, 3, 8, small=True), folder


@pytest.fixture
def build_again(made: tuple[Papers, Path], tmp_path: Path) -> Callable[..., Built]:
    papers, shipped = made

    def again(**changes: Any) -> Built:
        wanted = {"papers": papers, "shipped": shipped, **changes}
        return build(tmp_path / "site", wanted.pop("papers"), **wanted)

    return again


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_second_build_is_the_same_to_the_byte(build_again, made, tmp_path):
    first = build_again()
    before = contents(first.folder)
    assert set(first.written) == set(before) - {"probatum-report.json"}
    assert build_again().written == []
    assert contents(first.folder) == before
    papers, shipped = made
    elsewhere = build(tmp_path / "other", papers, shipped=shipped)
    assert contents(elsewhere.folder) == before


def test_processes_make_the_same_pages(made, tmp_path, monkeypatch):
    papers, shipped = made
    one = build(tmp_path / "one", papers, shipped=shipped)
    monkeypatch.setattr(site_module, "PAGES_PER_JOB", 1)
    two = build(tmp_path / "two", papers, shipped=shipped, jobs=2)
    assert contents(one.folder) == contents(two.folder)


def test_only_what_changed_is_written(build_again, made):
    papers, _ = made
    build_again()
    again = build_again(papers=(replace(papers[0], title="Another title"), *papers[1:]))
    assert set(again.written) == {f"papers/{papers[0].slug}.html", "index.html", "assets/search.js"}


def test_a_page_that_was_lost_or_spoilt_is_written_again(build_again, made):
    papers, _ = made
    folder = build_again().folder
    lost, spoilt = (f"papers/{paper.slug}.html" for paper in papers[:2])
    before = contents(folder)
    (folder / lost).unlink()
    (folder / spoilt).write_text("something else")
    assert set(build_again().written) == {lost, spoilt}
    assert contents(folder) == before


def test_pages_of_papers_that_are_gone_go(build_again, made):
    papers, _ = made
    folder = build_again().folder
    again = build_again(papers=papers[1:])
    assert again.removed == [f"papers/{papers[0].slug}.html"]
    assert not (folder / again.removed[0]).exists()
    assert papers[0].slug not in (folder / "index.html").read_text()


@pytest.mark.parametrize(
    "files", ["{", "[]", '{"papers/x.html": 3}', '{"../../out": {}, "papers/../../out": {}}']
)
def test_a_damaged_list_of_files_means_that_all_is_written(build_again, files, tmp_path):
    outside = tmp_path.parent / "out"
    outside.write_text("not ours")
    folder = build_again().folder
    before = contents(folder)
    (folder / "probatum-report.json").write_text(
        f'{{"format": "{site_module.FORMAT}", "files": {files}}}'
    )
    build_again()
    assert contents(folder) == before
    assert outside.read_text() == "not ours"


def test_a_build_that_was_stopped_is_taken_up(build_again, monkeypatch):
    asked = site_module.page

    def stopped(template: str, here: str, **content: Any) -> str:
        if template == "index.html":
            raise KeyboardInterrupt
        return asked(template, here, **content)

    monkeypatch.setattr(site_module, "page", stopped)
    with pytest.raises(KeyboardInterrupt):
        build_again()
    monkeypatch.setattr(site_module, "page", asked)
    built = build_again()
    assert (built.folder / "index.html").exists()
    assert not [name for name in contents(built.folder) if "/." in f"/{name}"]


def test_a_folder_of_somebody_else_is_refused(made, tmp_path):
    papers, shipped = made
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotASite, match="holds files that are not a report"):
        build(tmp_path, papers, shipped=shipped)
    assert os.listdir(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize(
    "text", ["", "{}", '{"index.html": {}}', '{"format": "mine", "files": {}}']
)
def test_a_list_of_files_that_is_not_ours_makes_no_folder_ours(made, tmp_path, text):
    papers, shipped = made
    (tmp_path / "index.html").write_text("mine")
    (tmp_path / site_module.MANIFEST).write_text(text)
    with pytest.raises(NotASite):
        build(tmp_path, papers, shipped=shipped)
    assert (tmp_path / "index.html").read_text() == "mine"


def test_altered_evidence_is_told_on_its_page_and_not_cited(made, tmp_path):
    papers, shipped = made
    folder = tmp_path / "shipped"
    shutil.copytree(shipped, folder)
    index = json.loads((folder / "index.json").read_text())
    claim = next(c for c, d in index[papers[0].slug].items() if d["verdict"] == "holds")
    index[papers[0].slug][claim]["verdict"] = "fails"
    (folder / "index.json").write_text(json.dumps(index))
    built = build(tmp_path / "site", papers, shipped=folder)
    text = (built.folder / "papers" / f"{papers[0].slug}.html").read_text()
    assert "altered since it was shipped" in text
    assert "@misc" not in text
    # The verdict is made again from the trials.
    assert f'<section class="claim holds" id="{claim}"' in text
    whole = build(tmp_path / "whole", papers, shipped=shipped)
    assert "@misc" in (whole.folder / "papers" / f"{papers[0].slug}.html").read_text()


def test_evidence_that_cannot_be_cited_is_shown_and_said(made, tmp_path):
    papers, shipped = made
    folder = tmp_path / "shipped"
    shutil.copytree(shipped, folder)
    slug = papers[0].slug
    sidecar = json.loads((folder / f"{slug}.json").read_text())
    for entry in sidecar.values():
        del entry["measured"]
    (folder / f"{slug}.json").write_text(json.dumps(sidecar))
    # As if it had been shipped so: nothing says that it was changed.
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.suffix in (".csv", ".json")
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
    built = build(tmp_path / "site", papers, shipped=folder)
    said = [p for p in built.problems if f"{slug}.json does not say when" in p]
    assert said
    text = (built.folder / "papers" / f"{slug}.html").read_text()
    assert "does not say when" in text
    assert "@misc" not in text
    assert '<section class="claim holds"' in text


def test_an_index_that_cannot_be_read_leaves_the_site(made, tmp_path):
    papers, shipped = made
    folder = tmp_path / "shipped"
    shutil.copytree(shipped, folder)
    (folder / "index.json").write_text("{")
    built = build(tmp_path / "site", papers, shipped=folder)
    assert any("index.json" in problem for problem in built.problems)
    assert "index.json" in (built.folder / "index.html").read_text()


def test_a_trial_that_cannot_be_read_costs_no_other_page(made, tmp_path):
    papers, shipped = made
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with Store(url) as store:
        remember(store, papers, shipped)
        engine = store._engine
        with engine.begin() as connection:
            columns = [column["name"] for column in sa.inspect(connection).get_columns("trials")]
            values = dict.fromkeys(columns, 0)
            values |= {"paper": papers[0].slug, "rows": "{", "final": True, "size": "{}"}
            names = ", ".join(f'"{name}"' for name in values)
            marks = ", ".join(f":{name}" for name in values)
            connection.execute(sa.text(f"insert into trials ({names}) values ({marks})"), values)
        built = build(tmp_path / "site", papers, shipped=shipped, store=store)
    assert (built.folder / "index.html").exists()
    assert len(list(built.folder.glob("papers/*.html"))) == len(papers)


def test_an_empty_catalog_is_a_site(tmp_path):
    built = build(tmp_path / "site", (), shipped=tmp_path)
    assert "0 papers" in (built.folder / "index.html").read_text()


def test_shipped_evidence_that_cannot_be_read_is_told_and_the_rest_is_shown(made, tmp_path):
    papers, shipped = made
    folder = tmp_path / "shipped"
    shutil.copytree(shipped, folder)
    table = folder / f"{papers[0].slug}.csv"
    table.write_text(table.read_text() + "one,line,too,many\n")
    built = build(tmp_path / "site", papers, shipped=folder)
    assert any(f"{table.name}, line" in problem for problem in built.problems)
    broken = (built.folder / "papers" / f"{papers[0].slug}.html").read_text()
    assert f"{table.name}, line" in broken
    assert "untested" in broken
    whole = (built.folder / "papers" / f"{papers[1].slug}.html").read_text()
    assert "shipped evidence" in whole
    again = build(tmp_path / "site", papers, shipped=folder)
    assert again.problems == built.problems


def test_catalog_modules_that_are_broken_are_named(build_again):
    built = build_again(broken={"catalog.mine": "SyntaxError: <b>no</b>"})
    text = (built.folder / "evidence.html").read_text()
    assert "catalog.mine" in text
    assert "&lt;b&gt;no" in text


class Pages(html.parser.HTMLParser):
    """What a page loads, and which tags and attributes it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self._data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, name, value or "") for name, value in attrs]
        self._data = tag == "script" and ("type", "application/json") in attrs

    def handle_data(self, data: str) -> None:
        if self._data:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._data = False


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    papers = make(folder / "shipped", 3, 8, markup=True, small=True)
    with Store(f"sqlite:///{folder / 'store.db'}") as store:
        remember(store, papers, folder / "shipped", markup=True)
        build(folder / "site", papers, shipped=folder / "shipped", store=store)
    return folder / "site"


def test_no_page_asks_for_anything_elsewhere(hostile):
    for path in hostile.rglob("*.html"):
        page = Pages()
        page.feed(path.read_text())
        for tag, name, value in page.found:
            where = (path.name, tag, name, value)
            assert not name.startswith("on"), where
            assert name != "style", where
            if name == "src" or (tag == "link" and name == "href"):
                assert re.fullmatch(r"(\.\./)?assets/[a-z.]+", value), where
            if tag == "a" and name == "href":
                assert re.match(r"#|https?:|(\.\./)?(papers/|assets/)?[A-Za-z0-9.-]+", value), where
                assert not value.lower().startswith(("javascript", "data", "vbscript")), where


def test_every_page_has_the_strict_policy(hostile):
    for path in hostile.rglob("*.html"):
        page = Pages()
        page.feed(path.read_text())
        policies = [value for tag, name, value in page.found if (tag, name) == ("meta", "content")]
        assert "default-src 'none'" in policies[0], path.name
        assert "unsafe" not in policies[0]


def test_specifications_are_plain_json_of_known_form(hostile):
    drawn = 0
    for path in hostile.glob("papers/*.html"):
        page = Pages()
        page.feed(path.read_text())
        for text in page.scripts:
            spec = json.loads(text)
            assert spec["layer"], path.name
            assert spec["width"] == "container"
            drawn += 1
    assert drawn > 20


def test_ids_are_unique_and_links_lead_somewhere(made, tmp_path):
    papers, _ = made
    # The names of sections are no claim's.
    claims = ("use", "claims", "page.use", "a", "a.heading", "experiment.scores")
    renamed = replace(
        papers[0],
        claims=tuple(
            replace(claim, id=name) for claim, name in zip(papers[0].claims, claims, strict=False)
        ),
    )
    built = build(tmp_path / "site", (renamed, *papers[1:]), shipped=tmp_path)
    pages = {}
    for path in built.folder.rglob("*.html"):
        page = Pages()
        page.feed(path.read_text())
        ids = [value for _, name, value in page.found if name == "id"]
        assert len(ids) == len(set(ids)), path.name
        pages[path.resolve()] = (set(ids), page)
    for path, (ids, page) in pages.items():
        for tag, name, value in page.found:
            if (tag, name) != ("a", "href") or value.startswith("http"):
                continue
            file, _, anchor = value.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.exists(), (path.name, value)
            if anchor and "=" not in anchor:
                assert anchor in pages[target][0], (path.name, value)
        for tag, name, value in page.found:
            if name == "aria-labelledby":
                assert value in ids, (path.name, tag, value)


def test_a_page_stays_small(made, tmp_path):
    folder = tmp_path / "shipped"
    built = build(tmp_path / "site", make(folder, 2, 16), shipped=folder)
    for path in built.folder.rglob("*.html"):
        assert path.stat().st_size < 500_000, path.name
