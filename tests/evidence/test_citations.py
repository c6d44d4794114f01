"""Citations of verdicts: any text goes through BibTeX and JSON-LD and comes back."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import catalog
from probatum.evidence import Arm, Budget, Claim, Dataset, Every, Experiment, Metric, Paper
from probatum.evidence.citations import (
    bibtex,
    citation_key,
    jsonld,
    jsonld_text,
    measured_with,
    shipped_citations,
)
from probatum.evidence.decide import untested
from probatum.evidence.shipped_index import ShippedError

DAYS = ("2026-02-27", "2026-03-02")
DIGEST = "0123456789abcdef" * 4
SIGNS = {
    "textbackslash": "\\",
    "textbraceleft": "{",
    "textbraceright": "}",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
}
AWKWARD = st.sampled_from([*"{}\\%&#_$~^<>|`'-,?!@\" =\n\t\0\x85", "--", "</script>", "é", "漢"])
TEXT = st.lists(AWKWARD | st.characters(), max_size=30).map("".join)


def _value(text, at):
    """The text between the brace at this place and the one that closes it, as BibTeX counts."""
    depth = 0
    for end in range(at, len(text)):
        # BibTeX knows no escaped brace.
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[at + 1 : end], end + 1
    raise AssertionError(f"a brace stays open in {text!r}")


def parsed(text):
    """Key and fields of one entry."""
    head = re.match(r"@misc\{([^\s\"#%'(),={}~\\]+),", text)
    body, end = _value(text, text.index("{"))
    assert end == len(text)
    fields, at = {}, len(head.group(1)) + 1
    while body[at:].strip():
        name = re.compile(r"\s*(\w+) = ([a-z]{3})?").match(body, at)
        at = name.end()
        fields[name[1]] = name[2]
        if name[2] is None:
            fields[name[1]], at = _value(body, at)
        at += body[at : at + 1] == ","
    return head.group(1), fields


def read(tex):
    """What TeX would print; every character that means something to it must be escaped."""
    assert not re.search(r"(?<!\\)[%&#_$]|[~^<>|]|--|''|``|[?!]`", tex), tex
    return re.sub(
        r"\\([a-z]+)\{\}|\\([%&#_$])|\{\}",
        lambda found: SIGNS[found[1]] if found[1] else found[2] or "",
        tex,
    )


def one_line(text):
    """The text as it can stand in one line."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())


def _paper(statement="It works.", title="A paper", missing="", scope="paper"):
    experiment = Experiment(
        "e",
        "m:trial",
        (Arm("good", "m:A", "method"),),
        (Dataset("d", "m:load", "CC0"),),
        {"loss": Metric("lower")},
        {"standard": Budget(20)},
    )
    rule = {"missing": missing} if missing else {}
    if not missing:
        rule = {"experiment": experiment, "criterion": Every("loss", "good", high=1.0)}
    claim = Claim("it-works", statement, scope, **rule)
    return Paper("my.paper", title, "evaluation", "abstract", (), (claim,)), claim


def _decided(paper, claim, **of):
    return replace(
        untested(paper, claim),
        **{
            "verdict": "holds",
            "guarantee": "asymptotic",
            "effect": 0.0123456,
            "low": -0.5,
            "high": None,
            "level": 0.00625,
            "n": 15,
            "reason": "",
            **of,
        },
    )


def test_what_a_bibtex_entry_says():
    paper, claim = _paper()
    found = bibtex(
        paper,
        claim,
        _decided(paper, claim, exceptions=("one set",), failures=2, reason="good: loss"),
        measured=DAYS,
        digest=DIGEST,
        version="0.1.0",
    )
    key, fields = parsed(found)
    assert key == "probatum-my.paper-it-works"
    assert read(fields.pop("howpublished")) == (
        "probatum check my.paper/it-works --profile standard --against shipped"
    )
    assert fields == {
        "title": "{It works [verdict: holds]}",
        "author": "{The probatum developers}",
        "year": "2026",
        "month": "mar",
        "version": "0.1.0",
        "note": "holds; effect 0.01235, interval [-0.5, inf]; n = 15 replicates; "
        "guarantee asymptotic; error level 0.00625; good: loss; not on one set; failed trials 2; "
        'scope paper; fidelity abstract; a claim of "A paper"; '
        "measured 2026-02-27 to 2026-03-02 with probatum 0.1.0; "
        f"SHA-256 of my.paper.csv {DIGEST}",
    }


def test_evidence_of_ones_own_and_a_proxy():
    paper, claim = _paper(scope="proxy")
    decision = _decided(paper, claim, verdict="undecided", more_needed=40, n=1)
    fields = parsed(bibtex(paper, claim, decision, measured=(DAYS[1],) * 2, profile="quick"))[1]
    assert read(fields["howpublished"]) == "probatum check my.paper/it-works --profile quick"
    assert "version" not in fields
    assert "n = 1 replicate;" in fields["note"]
    assert "about 40" in fields["note"]
    assert 'a proxy for a claim of "A paper"; measured 2026-03-02' in fields["note"]
    node = jsonld(paper, claim, decision, measured=DAYS, profile="quick")
    assert "appearance" not in node["itemReviewed"]
    assert node["itemReviewed"]["isBasedOn"]["name"] == "A paper"
    assert [source["@type"] for source in node["isBasedOn"]] == ["SoftwareApplication"]


def test_what_a_claim_review_says():
    paper, claim = _paper()
    decision = _decided(paper, claim)
    node = jsonld(paper, claim, decision, measured=DAYS, digest=DIGEST, version="0.1.0")
    assert node["@type"] == "ClaimReview"
    assert node["claimReviewed"] == "It works."
    assert node["itemReviewed"]["appearance"] == {"@type": "ScholarlyArticle", "name": "A paper"}
    assert node["reviewRating"]["alternateName"] == "holds"
    assert not {"ratingValue", "bestRating", "worstRating"} & set(node["reviewRating"])
    assert node["reviewBody"].startswith("loss of good never exceeds 1")
    assert node["datePublished"] == DAYS[1]
    software, table = node["isBasedOn"]
    assert software["softwareVersion"] == "0.1.0"
    assert table["distribution"]["sha256"] == DIGEST


def test_an_untested_claim_says_what_it_needs():
    paper, claim = _paper(missing="a rocket")
    decision = untested(paper, claim)
    fields = parsed(bibtex(paper, claim, decision, version="0.1.0"))[1]
    assert fields["title"] == "{It works [verdict: untested]}"
    assert fields["note"].startswith("untested; needs a rocket; ")
    assert fields["howpublished"] == "probatum show my.paper/it-works"
    assert not {"year", "month"} & set(fields)
    node = jsonld(paper, claim, decision)
    assert (node["reviewBody"], "datePublished" in node) == ("needs a rocket", False)


def test_text_that_begins_with_a_command_is_no_accent_to_bibtex():
    paper, claim = _paper(statement="\\emph{All} of it")
    title = parsed(bibtex(paper, claim, untested(paper, claim)))[1]["title"]
    assert title.startswith("{{}\\textbackslash{}emph")


@given(statement=TEXT, title=TEXT, reason=TEXT, arm=TEXT)
def test_any_text_comes_back_from_bibtex(statement, title, reason, arm):
    paper, claim = _paper(statement, title)
    decision = _decided(paper, claim, reason=reason, exceptions=(arm,))
    key, fields = parsed(bibtex(paper, claim, decision, measured=DAYS, digest=DIGEST))
    assert key == citation_key(paper, claim)
    stated = one_line(statement).removesuffix(".")
    assert read(fields["title"][1:-1]) == one_line(f"{stated} [verdict: holds]")
    note = read(fields["note"])
    assert one_line(f'a claim of "{title}"') in note
    assert one_line(reason) in note
    assert one_line(f"not on {arm}") in note


@given(statement=TEXT, title=TEXT, reason=TEXT)
def test_any_text_comes_back_from_json_ld(statement, title, reason):
    paper, claim = _paper(statement, title)
    node = jsonld(paper, claim, _decided(paper, claim, reason=reason), measured=DAYS)
    text = jsonld_text([node])
    assert not set("<>&") & set(text)
    found = json.loads(text)
    assert found == {"@context": "https://schema.org", "@graph": [node]}
    assert node["claimReviewed"] == one_line(statement)
    assert node["itemReviewed"]["appearance"]["name"] == one_line(title)


def test_half_a_character_can_be_written():
    paper, claim = _paper(statement="half \ud800")
    assert bibtex(paper, claim, untested(paper, claim)).encode("utf-8")
    assert json.loads(jsonld_text([jsonld(paper, claim, untested(paper, claim))]))


def test_keys_of_the_catalog_are_unique():
    keys = [citation_key(p, c).lower() for p in catalog.load().papers for c in p.claims]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        {},
        {"measured": ["2026-01-01"], "environments": []},
        {"measured": ["yesterday", "today"], "environments": []},
        {"measured": [1, 2], "environments": []},
        {"measured": list(DAYS)},
        {"measured": list(DAYS), "environments": [{}]},
        {"measured": list(DAYS), "environments": [{"versions": None}]},
    ],
)
def test_a_sidecar_that_does_not_say_when(entry):
    with pytest.raises(ShippedError, match=r"p\.json does not say when and with what e was"):
        measured_with("p", {"e": entry}, "e")


def test_a_sidecar_that_says_when_and_with_what():
    environments = [{"versions": {"probatum": v}} for v in ("0.2.0", "0.1.0", "0.2.0")]
    entry = {"measured": list(DAYS), "environments": environments}
    assert measured_with("p", {"e": entry}, "e") == (DAYS, "0.1.0, 0.2.0")


def test_nothing_is_shipped(tmp_path):
    paper, claim = _paper()
    (cited,) = shipped_citations([(paper, claim)], tmp_path, "0.1.0")
    assert (cited.decision.verdict, cited.decision.reason) == ("untested", "not shipped")
    assert (cited.measured, cited.digest, cited.version) == (None, "", "0.1.0")
