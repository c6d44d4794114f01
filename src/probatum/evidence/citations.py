"""Citations of verdicts: what was found about a claim, for a bibliography or a web page.

A citation names the verdict, not the paper: whoever quotes it says which experiment, in which
version, on which evidence, found what, and how to find it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from probatum.evidence.model import Claim, Decision, Paper, Profile
from probatum.evidence.shipped_index import ShippedError, damaged, file_hash, read_sidecar
from probatum.evidence.words import criterion_words
from probatum.files import whole_file

if TYPE_CHECKING:
    from probatum.evidence.store import Record, Store

__all__ = [
    "FORMATS",
    "Cited",
    "bibtex",
    "citation_key",
    "jsonld",
    "jsonld_text",
    "measured_with",
    "shipped_citations",
    "stored_citations",
    "write_citations",
]

Days: TypeAlias = tuple[str, str]
"""First and last day of the trials, as ``YYYY-MM-DD``."""

AUTHOR = "The probatum developers"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# BibTeX counts braces even behind a backslash, so that a brace in the text has to be a word.
_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{sign: f"\\{sign}" for sign in "%&#_$"},
    }
)
# TeX would draw two of these as one other character: `--profile` must not turn into a dash.
_LIGATURE = re.compile(r"([-'`,])(?=\1)|[?!](?=`)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Cited:
    """A decision with what it takes to cite it; the arguments of :func:`bibtex`."""

    paper: Paper
    claim: Claim
    decision: Decision
    measured: Days | None = None
    digest: str = ""
    version: str = ""
    profile: Profile = "standard"


def citation_key(paper: Paper, claim: Claim) -> str:
    """The key under which a verdict on a claim is cited.

    Examples
    --------
    >>> claim = Claim("orbit", "It works in space.", "target", missing="a rocket")
    >>> citation_key(Paper("coins", "Coins", "evaluation", "abstract", (), (claim,)), claim)
    'probatum-coins-orbit'
    """
    return f"probatum-{paper.slug}-{claim.id}"


def bibtex(
    paper: Paper,
    claim: Claim,
    decision: Decision,
    *,
    measured: Days | None = None,
    digest: str = "",
    version: str = "",
    profile: Profile = "standard",
) -> str:
    """A BibTeX entry, as UTF-8 text without a line end, for the verdict on a claim.

    Parameters
    ----------
    paper, claim, decision
        What was asked, and what was found.
    measured : (str, str), optional
        First and last day of its trials, as ``YYYY-MM-DD``; the last is when the verdict is from.
    digest : str
        SHA-256 of the shipped table that the verdict rests on; empty for evidence of one's own.
    version : str
        Version of probatum that it was measured with.
    profile : {"smoke", "quick", "standard", "full"}
        The budget it was measured at.

    Examples
    --------
    >>> from probatum.evidence.decide import untested
    >>> claim = Claim("orbit", "It works in 100% of space.", "target", missing="a rocket")
    >>> coins = Paper("coins", "Coins", "evaluation", "abstract", (), (claim,))
    >>> print(bibtex(coins, claim, untested(coins, claim), version="0.1.0"))
    @misc{probatum-coins-orbit,
      title = {{It works in 100\\% of space [verdict: untested]}},
      author = {{The probatum developers}},
      version = {0.1.0},
      howpublished = {probatum show coins/orbit},
      note = {untested; needs a rocket; scope target; fidelity abstract; a claim of "Coins"}
    }
    """
    cited = Cited(paper, claim, decision, measured, digest, version, profile)
    fields = {
        # A second pair of braces keeps styles from changing capitals.
        "title": f"{{{_protected(_tex(_title(cited)))}}}",
        # What somebody found with a store of their own is theirs to sign.
        "author": f"{{{_tex(AUTHOR)}}}" if digest or claim.experiment is None else "",
        "version": _tex(version),
        "howpublished": _tex(_command(cited)),
        "note": _tex(_summary(cited)),
    }
    lines = [f"  {name} = {{{text}}}" for name, text in fields.items() if text]
    if measured is not None:
        last = date.fromisoformat(measured[1])
        lines[-3:-3] = [f"  year = {{{last.year}}}", f"  month = {MONTHS[last.month - 1]}"]
    return f"@misc{{{citation_key(paper, claim)},\n" + ",\n".join(lines) + "\n}"


def jsonld(
    paper: Paper,
    claim: Claim,
    decision: Decision,
    *,
    measured: Days | None = None,
    digest: str = "",
    version: str = "",
    profile: Profile = "standard",
) -> dict[str, Any]:
    """A schema.org ``ClaimReview`` of the verdict on a claim, as a node of a graph.

    The arguments are those of :func:`bibtex`. The verdict is a word (``alternateName`` of the
    rating): a number on a scale would be invented. Only what the paper itself says appears in it;
    a proxy is based on it.

    Examples
    --------
    >>> from probatum.evidence.decide import untested
    >>> claim = Claim("orbit", "It works in space.", "target", missing="a rocket")
    >>> coins = Paper("coins", "Coins", "evaluation", "abstract", (), (claim,))
    >>> node = jsonld(coins, claim, untested(coins, claim))
    >>> node["claimReviewed"], node["reviewRating"]["alternateName"], node["reviewBody"]
    ('It works in space.', 'untested', 'needs a rocket')
    """
    cited = Cited(paper, claim, decision, measured, digest, version, profile)
    article = {"@type": "ScholarlyArticle", "name": _plain(paper.title)}
    software = {"@type": "SoftwareApplication", "name": "probatum", "softwareVersion": version}
    software["description"] = f"how to find it again: {_command(cited)}"
    sources: list[dict[str, Any]] = [{name: text for name, text in software.items() if text}]
    if digest:
        file = f"{paper.slug}.csv"
        table = {"@type": "DataDownload", "name": file, "encodingFormat": "text/csv"}
        table["sha256"] = digest
        sources.append({"@type": "Dataset", "name": file, "distribution": table})
    node: dict[str, Any] = {
        "@type": "ClaimReview",
        "@id": f"#{citation_key(paper, claim)}",
        "name": _title(cited),
        "claimReviewed": _plain(claim.statement),
        "itemReviewed": {
            "@type": "Claim",
            "name": _plain(claim.statement),
            "isBasedOn" if claim.scope == "proxy" else "appearance": article,
        },
        "reviewRating": {
            "@type": "Rating",
            "alternateName": decision.verdict,
            "ratingExplanation": _summary(cited),
        },
        "reviewBody": _plain(decision.reason or criterion_words(claim)),
        "reviewAspect": f"scope {claim.scope}",
        "isBasedOn": sources,
    }
    if digest or claim.experiment is None:
        node["author"] = {"@type": "Organization", "name": AUTHOR}
    if measured is not None:
        node["datePublished"] = measured[1]
    return node


def jsonld_text(nodes: Iterable[Mapping[str, Any]]) -> str:
    """Nodes of :func:`jsonld` as one JSON-LD document, which may stand in a ``script`` element.

    Examples
    --------
    >>> "</script>" in jsonld_text([{"@type": "Claim", "name": "</script>"}])
    False
    """
    graph = {"@context": "https://schema.org", "@graph": list(nodes)}
    text = json.dumps(graph, indent=1, allow_nan=False)
    # In JSON these stand in strings only; in HTML they would end the element or begin another.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _title(cited: Cited) -> str:
    statement = _plain(cited.claim.statement).removesuffix(".")
    return f"{statement} [verdict: {cited.decision.verdict}]"


def _command(cited: Cited) -> str:
    """What finds the verdict again; of a claim that nothing here can try, what shows it."""
    name = f"{cited.paper.slug}/{cited.claim.id}"
    if cited.claim.experiment is None:
        return f"probatum show {name}"
    against = " --against shipped" if cited.digest else ""
    return f"probatum check {name} --profile {cited.profile}{against}"


def _summary(cited: Cited) -> str:
    """All that a reader needs to weigh the verdict, in one line."""
    decision, claim = cited.decision, cited.claim
    said: list[str] = [decision.verdict]
    if decision.effect is not None:
        said.append(f"effect {decision.effect:.4g}{_interval(decision)}{_scale(claim)}")
    if decision.n:
        said.append(f"n = {decision.n} {decision.unit.removesuffix('s') + 's' * (decision.n > 1)}")
    if decision.guarantee != "none":
        said.append(f"guarantee {decision.guarantee}")
    if decision.level:
        said.append(f"error level {decision.level:.4g}")
    said.append(decision.reason)
    if decision.exceptions:
        said.append(f"not on {', '.join(decision.exceptions)}")
    if decision.failures:
        said.append(f"failed trials {decision.failures}")
    if decision.more_needed is not None:
        said.append(f"more replicates needed, about {decision.more_needed}")
    said += [f"scope {decision.scope}", f"fidelity {decision.fidelity}"]
    of = "a proxy for a claim of" if claim.scope == "proxy" else "a claim of"
    said.append(f'{of} "{cited.paper.title}"')
    if cited.measured is not None:
        days = " to ".join(dict.fromkeys(cited.measured))
        # Here too: older styles of BibTeX know no field for a version.
        said.append(f"measured {days} with probatum {cited.version}".removesuffix(" "))
    if not cited.digest and decision.n:
        said.append("from a store of one's own")
    if cited.digest:
        said.append(f"SHA-256 of {cited.paper.slug}.csv {cited.digest}")
    return "; ".join(part for part in map(_plain, said) if part)


def _scale(claim: Claim) -> str:
    """What an effect is where it is no number of the metric's own."""
    scales = {getattr(part, "scale", "") for part in claim.parts}
    return " (logarithm of a ratio, positive if better)" if scales == {"log-ratio"} else ""


def _interval(decision: Decision) -> str:
    if decision.low is None and decision.high is None:
        return ", no interval"
    if decision.low == decision.high:
        return ""
    low = "-inf" if decision.low is None else f"{decision.low:.4g}"
    high = "inf" if decision.high is None else f"{decision.high:.4g}"
    return f", interval [{low}, {high}]"


def _plain(text: str) -> str:
    """Text in one line that every encoding of Unicode takes."""
    text = _CONTROL.sub(" ", text).encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())


def _tex(text: str) -> str:
    return _LIGATURE.sub(r"\g<0>{}", _plain(text).translate(_TEX))


def _protected(text: str) -> str:
    """A brace before a command at the start would mean an accent to BibTeX, open to its styles."""
    return f"{{}}{text}" if text.startswith("\\") else text


def _bibtex_file(cited: Sequence[Cited]) -> str:
    return "\n\n".join(bibtex(**vars(one)) for one in cited)


def _jsonld_file(cited: Sequence[Cited]) -> str:
    return jsonld_text(jsonld(**vars(one)) for one in cited)


FORMATS: dict[str, Callable[[Sequence[Cited]], str]] = {
    ".bib": _bibtex_file,
    ".jsonld": _jsonld_file,
}


def write_citations(path: Path, cited: Iterable[Cited]) -> int:
    """Write citations to a file whose suffix says the format; it is there whole or not at all.

    Returns
    -------
    int
        Citations written.

    Raises
    ------
    OSError
        If the file can't be written.
    """
    found = list(cited)
    text = FORMATS[path.suffix.lower()](found)
    with whole_file(path) as draft:
        draft.write_text(f"{text}\n", encoding="utf-8", newline="")
    return len(found)


def measured_with(slug: str, sidecar: Mapping[str, Any], experiment: str) -> tuple[Days, str]:
    """First and last day of an experiment's shipped trials, and the version they were run with.

    Raises
    ------
    ShippedError
        If the sidecar does not say so.
    """
    try:
        entry = sidecar[experiment]
        first, last = (date.fromisoformat(day).isoformat() for day in entry["measured"])
        return (first, last), _versions(entry["environments"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ShippedError(
            f"{slug}.json does not say when and with what {experiment} was measured"
        ) from None


def _versions(environments: Iterable[Mapping[str, Any]]) -> str:
    """Versions of probatum among environments: one, unless it was upgraded on the way."""
    found = {e["versions"].get("probatum") for e in environments}
    return ", ".join(sorted(str(version) for version in found if version))


def shipped_citations(
    selection: Sequence[tuple[Paper, Claim]], folder: Path, version: str
) -> Iterator[Cited]:
    """Citations of what shipped evidence says.

    ``version`` is the one that says of a claim that it is untested.

    Raises
    ------
    ShippedError
        If the evidence is not as it was shipped: its hash would vouch for something else.
    """
    from probatum.evidence.tables import not_shipped

    known: dict[str, tuple[dict[str, Decision], dict[str, Any], str]] = {}
    for paper, claim in selection:
        if paper.slug not in known:
            known[paper.slug] = _shipped(paper, folder)
        decisions, sidecar, digest = known[paper.slug]
        if claim.experiment is None or claim.id not in decisions:
            yield Cited(paper, claim, not_shipped(paper, claim), version=version)
            continue
        days, used = measured_with(paper.slug, sidecar, claim.experiment.id)
        yield Cited(paper, claim, decisions[claim.id], days, digest, used)


def _shipped(paper: Paper, folder: Path) -> tuple[dict[str, Decision], dict[str, Any], str]:
    """A paper's decisions, recomputed, what they were measured with, and the hash of the table."""
    from probatum.evidence.shipped import shipped_decisions

    table = folder / f"{paper.slug}.csv"
    changed = damaged(folder)
    for name in (table.name, f"{paper.slug}.json"):
        if name in changed:
            raise ShippedError(f"{name} is not as it was shipped: restore it to cite it")
    decisions = shipped_decisions(paper, folder)
    return decisions, read_sidecar(paper.slug, folder), file_hash(table) if decisions else ""


def stored_citations(
    selection: Sequence[tuple[Paper, Claim]], store: Store, profile: Profile, version: str
) -> Iterator[Cited]:
    """Citations of what the trials in a store allow to say, without running any.

    ``version`` is the one that says of a claim that it is untested.
    """
    from probatum.evidence.run import open_runs
    from probatum.evidence.tables import stored_decisions

    environments = store.environments()
    runs = {(run.paper.slug, run.experiment.id): run for run in open_runs(selection, profile)}
    decisions = stored_decisions(selection, store, profile)
    for (paper, claim), decision in zip(selection, decisions, strict=True):
        records: list[Record] = []
        looked = max((part.replicates for part in decision.parts), default=0)
        if claim.experiment is not None and looked:
            run = runs[paper.slug, claim.experiment.id]
            records = list(store.final(run.keys(range(looked))).values())
        if not records:
            if claim.experiment is None:
                yield Cited(paper, claim, decision, version=version, profile=profile)
            # Of what was never tried there is nothing to cite.
            continue
        days = _day(min(r.started for r in records)), _day(max(r.started for r in records))
        used = {r.environment for r in records} & environments.keys()
        versions = _versions(environments[e] for e in used)
        yield Cited(paper, claim, decision, days, "", versions, profile)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
