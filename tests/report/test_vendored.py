"""The vendored script: what was checked in, under which licences, and that it draws safely."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser import Visits

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "src" / "probatum" / "report" / "assets"
STATED = json.loads((ROOT / "tools" / "vega" / "package.json").read_text(encoding="utf-8"))
LOCKED = json.loads((ROOT / "tools" / "vega" / "package-lock.json").read_text(encoding="utf-8"))
SCRIPT = (ASSETS / "vega.js").read_bytes()
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>t</title>
<script defer src="vega.js"></script><script defer src="draw.js"></script></head>
<body><div id="chart"></div></body></html>"""
DRAW = """(async () => {{
  const V = globalThis.probatumVega;
  const spec = V.compile({spec}, {{config: {{}}}}).spec;
  const view = new V.View({view}, container: document.getElementById("chart"), logLevel: V.Warn}});
  await view.runAsync();
  document.body.dataset.drawn = "yes";
}})().catch(error => {{ document.body.dataset.drawn = String(error); }});"""
INTERPRETED = 'V.parse(spec, null, {ast: true}), {expr: V.expressionInterpreter, renderer: "svg"'
COMPILED = 'V.parse(spec), {renderer: "svg"'

ROWS = [
    {"law": f"law {i}", "kind": "te"[i % 2], "n": 3.0**i, "low": -i / 10, "mid": i / 20, "high": i}
    for i in range(1, 6)
]
NUMBER = {"type": "quantitative"}
LAYERS: dict[str, Any] = {
    "data": {"values": ROWS},
    "layer": [
        {"mark": "rect", "encoding": {"x": {"datum": 0}, "x2": {"datum": 1}}},
        {
            "mark": {"type": "rule", "tooltip": True},
            "encoding": {
                "x": {
                    **NUMBER,
                    "field": "low",
                    "axis": {"labelExpr": "datum.value ? format(datum.value, '+.1f') : 'none'"},
                },
                "x2": {"field": "high"},
                "y": {"field": "law", "type": "nominal", "sort": None},
            },
        },
        {
            "mark": {"type": "point", "filled": True},
            "encoding": {
                "x": {**NUMBER, "field": "mid"},
                "y": {"field": "law", "type": "nominal", "sort": None},
                "color": {"field": "kind", "type": "nominal"},
                "tooltip": [{"field": "law"}, {"field": "mid", "format": ".3f"}],
            },
        },
    ],
}
FACETS: dict[str, Any] = {
    "data": {"values": ROWS},
    "facet": {"row": {"field": "kind"}},
    "spec": {
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {**NUMBER, "field": "n", "scale": {"type": "log"}},
            "y": {**NUMBER, "field": "high", "scale": {"type": "symlog"}},
        },
    },
}
COMPUTED: dict[str, Any] = {
    "data": {"values": ROWS},
    "transform": [
        {"calculate": "exp(datum.mid)", "as": "factor"},
        {"window": [{"op": "mean", "field": "factor", "as": "mean"}], "sort": [{"field": "n"}]},
        {"filter": "isValid(datum.mean)"},
    ],
    "params": [{"name": "near", "select": {"type": "point", "nearest": True}}],
    "mark": "point",
    "encoding": {"x": {**NUMBER, "field": "n"}, "y": {**NUMBER, "field": "mean"}},
}


def test_the_script_is_the_one_that_was_made() -> None:
    digest, name = (ASSETS / "vega.sha256").read_text(encoding="ascii").split()
    assert (name, digest) == ("vega.js", hashlib.sha256(SCRIPT).hexdigest())


def test_versions_are_stated_and_locked() -> None:
    banner = SCRIPT.split(b"\n", 1)[0].decode("ascii")
    for name, version in STATED["dependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert f"{name} {version}" in banner
        assert LOCKED["packages"][f"node_modules/{name}"]["version"] == version
    assert LOCKED["packages"][""]["dependencies"] == STATED["dependencies"]


def test_every_locked_package_has_a_checksum_and_no_address() -> None:
    packages = {name: facts for name, facts in LOCKED["packages"].items() if name}
    assert all("integrity" in facts for facts in packages.values())
    assert not any("resolved" in facts for facts in packages.values())


def test_the_script_can_stand_on_any_page() -> None:
    text = SCRIPT.decode("ascii")
    assert "sourceMappingURL" not in text
    assert "</script" not in text.lower()
    assert "<!--" not in text
    assert not re.search(r"\bimport\s*\(", text)


def test_addresses_in_it_are_names_and_not_asked_for() -> None:
    found = set(re.findall(rb"https?://[^\s\"'`)]+", SCRIPT))
    names = (b"http://www.w3.org/", b"https://vega.github.io/schema/", b"https://github.com/vega/")
    assert found
    assert all(address.startswith(names) for address in found), found


def test_every_package_inside_has_its_licence_there() -> None:
    text = (ASSETS / "vega.LICENSES.md").read_text(encoding="utf-8")
    named = {
        tuple(item.rsplit(" (", 1)[0].rsplit(" ", 1))
        for line in re.findall(r"^## (.*\))$", text, re.MULTILINE)
        for item in line.split(", ")
    }
    locked = {
        (name.rpartition("node_modules/")[2], facts["version"])
        for name, facts in LOCKED["packages"].items()
        if name
    }
    # Packages whose names stand in the script itself, as what Vega is made of.
    assert {"vega-lite", "vega-view", "vega-scenegraph", "d3-scale", "d3-time"} <= {
        n for n, _ in named
    }
    assert named <= locked
    blocks = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    grants = sum("ermission" in block or "Redistribution" in block for block in blocks)
    assert grants >= text.count("\n## ") - 1
    for phrase in ("University of Washington", "Mike Bostock", "Cynthia Brewer", "Ariya Hidayat"):
        assert phrase in text


def test_the_package_carries_the_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "src/probatum/report/assets/vega.LICENSES.md" in project["license-files"]


def drawn(visits: Visits, folder: Path, spec: dict[str, Any], view: str) -> Any:
    """A page with one chart, under the policy of the report's pages, once it is done."""
    (folder / "vega.js").write_bytes(SCRIPT)
    (folder / "index.html").write_text(PAGE.format(policy=POLICY), encoding="utf-8")
    draw = DRAW.format(spec=json.dumps(spec), view=view)
    (folder / "draw.js").write_text(draw, encoding="utf-8")
    page = visits.open(folder)
    page.wait_for_selector("body[data-drawn]", state="attached")
    return page


@pytest.mark.parametrize("spec", [LAYERS, FACETS, COMPUTED], ids=["layers", "facets", "computed"])
def test_charts_are_drawn_under_the_policy(
    visits: Visits, tmp_path: Path, spec: dict[str, Any]
) -> None:
    page = drawn(visits, tmp_path, spec, INTERPRETED)
    assert page.get_attribute("body", "data-drawn") == "yes"
    assert page.locator("#chart svg .mark-symbol.role-mark path").count() == len(ROWS)


def test_a_tooltip_is_shown(visits: Visits, tmp_path: Path) -> None:
    page = drawn(visits, tmp_path, LAYERS, INTERPRETED)
    box = page.locator("#chart svg .mark-symbol.role-mark path").nth(2).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.wait_for_function("document.querySelector('#chart').title")
    assert page.get_attribute("#chart", "title") == "law: law 3\nmid: 0.150"


def test_the_policy_bites_where_code_is_made_of_text(visits: Visits, tmp_path: Path) -> None:
    page = drawn(visits, tmp_path, LAYERS, COMPILED)
    assert page.get_attribute("body", "data-drawn").startswith("EvalError")
    assert any("script-src blocked eval" in said for said in visits.wrong)
    visits.wrong.clear()  # what was to be seen


def test_what_was_left_out_is_refused_by_name(visits: Visits, tmp_path: Path) -> None:
    spec = {"data": {"values": []}, "mark": "geoshape"}
    page = drawn(visits, tmp_path, spec, INTERPRETED)
    assert "Unrecognized transform" in page.get_attribute("body", "data-drawn")
