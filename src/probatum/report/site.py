"""The site: which pages there are, and writing those that changed."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import multiprocessing
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probatum.evidence.citations import bibtex, measured_with
from probatum.evidence.described import shipped_standing
from probatum.evidence.model import Claim, Decision, Paper
from probatum.evidence.shipped import freshness
from probatum.evidence.shipped_index import SHIPPED, ShippedError, damaged, read_index
from probatum.evidence.store import Store, StoreError
from probatum.evidence.tool import Progress, silent
from probatum.files import whole_file
from probatum.report.content import VERDICTS, paper_content, verdict_counts
from probatum.report.inputs import paper_digest
from probatum.report.other_pages import evidence_content, own_content, verdicts_content
from probatum.report.render import ASSETS, page, script_of
from probatum.report.sources import Source, from_shipped, from_store
from probatum.report.wording import SCOPES

__all__ = ["Built", "NotASite", "build"]

MANIFEST = "probatum-report.json"
FORMAT = "probatum report 1"
OWN_PAGE = re.compile(r"papers/[^/]+[.]html")
"""What may be removed when its paper is gone."""
ALTERED = (
    "the shipped files are not as they were shipped (see Evidence): what is shown here rests on "
    "altered numbers"
)
PAGES_PER_JOB = 8
"""Starting a process costs as much as a few pages."""


class NotASite(Exception):
    """The folder holds something else, which a site must not overwrite."""


@dataclass
class Built:
    """What was built: how many pages, those that were written and removed, and what went wrong."""

    folder: Path
    pages: int = 0
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def build(
    out: Path,
    papers: Sequence[Paper],
    *,
    shipped: Path = SHIPPED,
    store: Store | None = None,
    broken: Mapping[str, str] | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> Built:
    """Build the site, or bring it up to date: pages whose content is the same are left alone.

    Parameters
    ----------
    out : Path
        A folder that is empty, missing, or holds a site.
    papers : sequence of Paper
    shipped : Path
        Folder of shipped evidence.
    store : Store, optional
        What was run on this machine.
    broken : mapping of str to str, optional
        Catalog modules that can't be read, and why.
    jobs : int
        Processes that make pages. With more than one, a script that calls this needs the usual
        guard around its main part.
    progress : Progress

    Returns
    -------
    Built

    Raises
    ------
    NotASite
        If the folder holds something else.
    OSError
        If it can't be written to.
    StoreError
        If the store can't be read.
    """
    site = _Site(out, papers, shipped, store, dict(broken or {}))
    site.open()
    site.add_papers(jobs, progress)
    site.add_overview()
    site.close()
    progress(len(papers), len(papers), "")
    return site.built


class _Site:
    def __init__(
        self,
        out: Path,
        papers: Sequence[Paper],
        shipped: Path,
        store: Store | None,
        broken: dict[str, str],
    ) -> None:
        self.out, self.papers, self.shipped, self.store = out, papers, shipped, store
        self.broken = broken
        self.built = Built(out)
        self.before: dict[str, Any] = {}
        self.files: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.tally = store.tally() if store is not None else {}
        self.damaged = set(damaged(shipped))
        # What is derived from altered files is not to be trusted either.
        self.index = {} if "index.json" in self.damaged else _index(shipped)

    def open(self) -> None:
        """Make the folder, or see that it holds a site."""
        manifest = self.out / MANIFEST
        if self.out.exists() and not self.out.is_dir():
            raise NotASite(f"{self.out} is a file, not a folder")
        found = _manifest(manifest) if manifest.is_file() else None
        if found is not None:
            self.before = found
        elif self.out.is_dir() and any(self.out.iterdir()):
            raise NotASite(
                f"{self.out} holds files that are not a report; name an empty or a new folder"
            )
        for folder in (self.out / "papers", self.out / "assets"):
            folder.mkdir(parents=True, exist_ok=True)
        if found is None:
            # From here on the folder is ours, also if the build is stopped.
            self._write_manifest()

    def add_papers(self, jobs: int, progress: Progress) -> None:
        """Write the pages of papers, but for those of which nothing has changed."""
        wanted = [found for paper in self.papers if (found := self._wanted(paper)) is not None]
        done = len(self.papers) - len(wanted)
        for asked, made in zip(wanted, _made(wanted, self.store, jobs), strict=True):
            progress(done, len(self.papers), asked.paper.slug)
            row = made.row
            self._add(asked.name, made.text, inputs=asked.digest, row=row)
            self.rows.append(row)
            self.built.problems += row["problems"]
            done += 1

    def _wanted(self, paper: Paper) -> _Asked | None:
        """What a paper's page is made from; None where it stands as it is."""
        altered = bool(self.damaged & {f"{paper.slug}.csv", f"{paper.slug}.json", "index.json"})
        try:
            fresh, problem = freshness(paper, self.shipped), ALTERED if altered else ""
        except ShippedError as error:
            fresh, problem = {}, str(error)
        stored = self.tally.get(paper.slug, (0, 0))
        digest = paper_digest(paper, self.shipped, fresh, stored, altered)
        name = f"papers/{paper.slug}.html"
        known = self.before.get(name)
        same = known is not None and known.get("inputs") == digest and "row" in known
        if known is not None and same and self._unchanged(name, known):
            self.files[name] = known
            self.rows.append(known["row"])
            self.built.problems += known["row"]["problems"]
            return None
        index = {} if altered else self.index.get(paper.slug, {})
        url = self.store.url.render_as_string(hide_password=False) if self.store else ""
        url = url if stored[0] else ""
        return _Asked(paper, name, digest, self.shipped, url, problem, altered, index)

    def add_overview(self) -> None:
        """Write the pages about all papers, and what pages share."""
        rows = sorted(self.rows, key=lambda row: row["title"].casefold())
        counts = verdict_counts(())
        for row in rows:
            for verdict, n in row["counts"].items():
                counts[verdict] += n
        standing, wrong = shipped_standing(self.papers, self.shipped)
        problems = list(dict.fromkeys([*wrong, *self.built.problems]))
        self.built.problems = problems
        self._add(
            "index.html",
            page(
                "index.html",
                "index.html",
                papers=rows,
                counts=counts,
                total=sum(counts.values()),
                domains=sorted({row["domain"] for row in rows}),
                fidelities=sorted({row["fidelity"] for row in rows}),
                verdicts=VERDICTS,
                scopes=SCOPES,
                problems=problems,
            ),
        )
        search = [[row["slug"], row["title"], row["methods"], row["statements"]] for row in rows]
        self._add("assets/search.js", script_of("probatumSearch", search))
        self._add("verdicts.html", page("verdicts.html", "verdicts.html", **verdicts_content()))
        state = evidence_content(standing, problems, self.broken, self.papers, self.store)
        self._add("evidence.html", page("evidence.html", "evidence.html", **state))
        own, own_problems = own_content(self.papers, self.store)
        self.built.problems += own_problems
        self._add("own.html", page("own.html", "own.html", problems=own_problems, asked=own))
        for asset in sorted(ASSETS.iterdir()):
            self._add(f"assets/{asset.name}", asset.read_bytes())

    def close(self) -> None:
        """Remove pages of papers that are gone, and write down what is there."""
        for name in sorted(set(self.before) - set(self.files)):
            path = self.out / name
            if OWN_PAGE.fullmatch(name) and path.is_file():
                path.unlink()
                self.built.removed.append(name)
        if self.files != self.before:
            self._write_manifest()
        self.built.pages = sum(name.endswith(".html") for name in self.files)

    def _write_manifest(self) -> None:
        # The order inside an entry is that of the catalog's table, and stays.
        found = {"format": FORMAT, "files": dict(sorted(self.files.items()))}
        text = json.dumps(found, indent=0, ensure_ascii=True) + "\n"
        self._write_whole(MANIFEST, text.encode())

    def _add(self, name: str, content: str | bytes, **kept: Any) -> None:
        data = content.encode("utf-8", "replace") if isinstance(content, str) else content
        found = {"sha256": hashlib.sha256(data).hexdigest(), **kept}
        self.files[name] = found
        if not self._unchanged(name, found):
            self._write_whole(name, data)
            self.built.written.append(name)

    def _unchanged(self, name: str, known: Mapping[str, Any]) -> bool:
        path = self.out / name
        if not path.is_file():
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == known.get("sha256")

    def _write_whole(self, name: str, data: bytes) -> None:
        with whole_file(self.out / name) as draft:
            draft.write_bytes(data)


def _index(shipped: Path) -> dict[str, Any]:
    """The shipped index; nothing where it can't be read, which is told with how evidence stands."""
    try:
        return read_index(shipped)
    except ShippedError:
        return {}


@dataclass(frozen=True)
class _Asked:
    """A page to be made; plain enough to be sent to another process."""

    paper: Paper
    name: str
    digest: str
    shipped: Path
    store_url: str
    problem: str = ""
    altered: bool = False
    index: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Made:
    text: str
    row: dict[str, Any]


def _made(wanted: Sequence[_Asked], store: Store | None, jobs: int) -> Iterator[_Made]:
    """The pages asked for, in their order."""
    jobs = min(jobs, len(wanted) // PAGES_PER_JOB)
    if jobs < 2:
        yield from (_make(asked, store) for asked in wanted)
        return
    context = multiprocessing.get_context("spawn")
    # These processes live for a few pages: looking for cycles takes a tenth of their time.
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=gc.disable) as pool:
        yield from pool.map(_make, wanted)


def _make(asked: _Asked, store: Store | None = None) -> _Made:
    """A page; another process opens the store for itself.

    Whatever is wrong with a paper's evidence is told on its page, and costs no other page.
    """
    paper, problems = asked.paper, [asked.problem] if asked.problem else []
    shipped = stored = None
    try:
        shipped = from_shipped(paper, asked.shipped, asked.index)
    except ShippedError as error:
        problems += [str(error)] if str(error) not in problems else []
    if asked.store_url:
        try:
            with contextlib.nullcontext(store) if store else Store(asked.store_url) as opened:
                stored = from_store(paper, opened)
        except StoreError as error:
            problems.append(f"{paper.slug}: {error}")
    try:
        content = paper_content(paper, shipped, stored)
    except (ArithmeticError, ValueError) as error:
        problems.append(f"{paper.slug}: its evidence can't be shown: {error}")
        content = paper_content(paper, None, None)
    citations = {}
    for part in content["claims"]:
        citations[part.claim.id] = ""
        try:
            if not asked.altered:
                citations[part.claim.id] = _citation(paper, part.claim, part.evidence)
        except ShippedError as error:
            problems += [str(error)] if str(error) not in problems else []
    text = page(
        "paper.html",
        asked.name,
        problems=problems,
        altered=asked.altered,
        citations=citations,
        **content,
    )
    return _Made(text, _row(paper, content, problems))


def _manifest(path: Path) -> dict[str, Any] | None:
    """What was written before: None where the folder is not ours.

    Where ours is damaged nothing is known to be there, so that all is written anew.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return {} if FORMAT in text else None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return None
    files = found.get("files")
    ours = isinstance(files, dict) and all(isinstance(entry, dict) for entry in files.values())
    return files if ours else {}


def _row(paper: Paper, content: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """A paper in the catalog's table."""
    pairs: dict[str, int] = {}
    for claim in content["claims"]:
        pair = f"{claim.verdict}/{claim.claim.scope}"
        pairs[pair] = pairs.get(pair, 0) + 1
    return {
        "slug": paper.slug,
        "title": paper.title,
        "domain": paper.domain,
        "fidelity": paper.fidelity,
        "counts": content["counts"],
        "pairs": " ".join(f"{pair}:{n}" for pair, n in pairs.items()),
        "stale": len(content["stale"]),
        "problems": problems,
        "methods": " ".join(method.partition(":")[2] for method in paper.methods),
        "statements": [
            [claim.claim.id, claim.verdict, claim.claim.scope, claim.claim.statement]
            for claim in content["claims"]
        ],
    }


def _citation(paper: Paper, claim: Claim, evidence: Any) -> str:
    if evidence is None or evidence.source.kind != "shipped" or claim.experiment is None:
        return ""
    source: Source = evidence.source
    decision: Decision = evidence.decision
    days, version = measured_with(paper.slug, source.measured, claim.experiment.id)
    return bibtex(paper, claim, decision, measured=days, digest=source.digest, version=version)
