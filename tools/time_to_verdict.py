"""How soon shipped claims were decided, beside a design with one fixed number of replicates.

    python tools/time_to_verdict.py [--json]

For every shipped claim that chance decides: the replicates at which its verdict froze, and those
that a test at one fixed n needs to reach that verdict with a chance of 90 %, if the effect and the
spread were known beforehand to be those of all shipped replicates. Means are tested by a two-sided
t-test against the region's nearest edge, rates of independent tries by the exact binomial test;
both at the level that the claim's own interval has. A claim of several comparisons that holds needs
the largest of their numbers, one that fails the smallest among those that fail.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from probatum import catalog
from probatum.evidence.decide import claim_alpha, claim_arms
from probatum.evidence.measure import replicate_counts
from probatum.evidence.model import Claim, Every, Rate
from probatum.evidence.pieces import Piece, pieces, region_of, replicate_effects
from probatum.evidence.procedures import Region
from probatum.evidence.run import Run
from probatum.evidence.shipped import read_records, shipped_runs
from probatum.evidence.shipped_index import read_sidecar

POWER = 0.9
MOST = 10**6


@dataclass(frozen=True)
class Timed:
    """A claim, the replicates it took, and those a fixed design takes.

    ``fixed`` and ``ratio`` are None where no fixed number does: the effect seen lies on the edge.
    ``first`` says that the verdict came at the first look that its procedure allows.
    """

    paper: str
    claim: str
    verdict: str
    used: int
    fixed: int | None
    ratio: float | None
    first: bool


def fixed_n_mean(effect: float, spread: float, edge: float, alpha: float) -> int | None:
    """Replicates that a two-sided t-test of ``edge`` at level ``alpha`` needs for its power.

    Examples
    --------
    >>> fixed_n_mean(0.5, 1.0, 0.0, 0.05)
    44
    """
    if effect == edge:
        return None
    gap = abs(effect - edge) / spread if spread > 0 else math.inf
    if math.isinf(gap):
        return 2

    def reaches(n: int) -> bool:
        cut = stats.t.ppf(1 - alpha / 2, n - 1)
        power = stats.nct.sf(cut, n - 1, gap * math.sqrt(n))
        # Far out in the tail the distribution can't be computed: there the test never misses.
        return bool(power >= POWER or math.isnan(power))

    n = 2
    while not reaches(n):
        n *= 2
        if n > MOST:
            return None
    low = n // 2
    while low + 1 < n:
        middle = (low + n) // 2
        low, n = (low, middle) if reaches(middle) else (middle, n)
    return n


def fixed_n_rate(rate: float, edge: float, alpha: float) -> int | None:
    """Tries that a two-sided exact test of a rate at level ``alpha`` needs for its power.

    Examples
    --------
    >>> fixed_n_rate(0.0, 0.05, 0.05), fixed_n_rate(1.0, 0.9, 0.05)
    (72, 36)
    """
    if rate > edge:
        rate, edge = 1 - rate, 1 - edge
    if rate == edge:
        return None
    step = 4096
    for start in range(1, MOST, step):
        n = np.arange(start, start + step)
        # The most successes at which a rate as high as the edge is refused.
        most = stats.binom.ppf(alpha / 2, n, edge)
        most -= stats.binom.cdf(most, n, edge) > alpha / 2
        good = (most >= 0) & (stats.binom.cdf(most, n, rate) >= POWER)
        if good.any():
            return int(n[good.argmax()])
    return None


def nearest_edge(effect: float, region: Region) -> float:
    """The end of a region that is nearest to an effect."""
    return min((region.low, region.high), key=lambda edge: abs(effect - edge))


def _fixed(run: Run, claim: Claim, piece: Piece, alpha: float) -> int | None:
    """Replicates that the fixed design takes for one comparison."""
    seen = run.evidence.complete(claim_arms(claim), run.target)
    region = region_of(piece.part)
    if isinstance(piece.part, Rate) and piece.part.independent:
        counts = replicate_counts(run.evidence, piece.part, seen)
        k, n = (sum(c[at] for of in counts for c in of) for at in (0, 1))
        # Where only one edge lies within (0, 1), the other is no edge.
        edges = [edge for edge in (region.low, region.high) if 0 < edge < 1]
        tries = fixed_n_rate(k / n, min(edges, key=lambda edge: abs(k / n - edge)), alpha)
        return None if tries is None else math.ceil(tries * seen / n)
    z = replicate_effects(piece, run.evidence, seen)
    z = z[~np.isnan(z)]
    effect, spread = float(z.mean()), float(z.std(ddof=1))
    return fixed_n_mean(effect, spread, nearest_edge(effect, region), alpha)


def _timed(run: Run, claim: Claim) -> Timed:
    decision, asked = run.decisions[claim.id], pieces(claim)
    alpha = claim_alpha(run.paper) / len(asked)
    pairs = [
        (part, _fixed(run, claim, piece, alpha))
        for piece, part in zip(asked, decision.parts, strict=True)
        if not isinstance(piece.part, Every)
        and (decision.verdict != "fails" or part.verdict == "fails")
    ]
    which = min if decision.verdict == "fails" else max
    used = which(part.replicates for part, _ in pairs)
    numbers = [n for _, n in pairs]
    known = [n for n in numbers if n is not None]
    complete = len(known) == len(numbers) or (decision.verdict == "fails" and known)
    fixed = which(known) if complete else None
    decided = decision.verdict in ("holds", "fails") and fixed is not None
    first = used == (10 if decision.guarantee == "asymptotic" else 5)
    ratio = round(used / fixed, 3) if decided and fixed else None
    return Timed(run.paper.slug, claim.id, decision.verdict, used, fixed, ratio, first)


def timed() -> Iterator[Timed]:
    """Every shipped claim that chance decides."""
    for paper in catalog.load().papers:
        records = read_records(paper.slug)
        for run in shipped_runs(paper, read_sidecar(paper.slug), records) if records else ():
            for claim in run.claims:
                if claim.stochastic:
                    yield _timed(run, claim)


def main() -> int:
    """Print a line per claim and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    wanted = parser.parse_args()
    lines = sorted(timed(), key=lambda line: (line.paper, line.claim))
    ratios = [line.ratio for line in lines if line.ratio is not None]
    later = [line.ratio for line in lines if line.ratio is not None and not line.first]
    summary = {
        "claims": len(lines),
        "first_look": sum(line.first for line in lines),
        "median_ratio": round(statistics.median(ratios), 2) if ratios else None,
        "median_ratio_later": round(statistics.median(later), 2) if later else None,
        "used": sum(line.used for line in lines if line.ratio is not None),
        "fixed": sum(line.fixed or 0 for line in lines if line.ratio is not None),
    }
    if wanted.json:
        print(json.dumps({**summary, "lines": [asdict(line) for line in lines]}, indent=1))
        return 0
    for line in lines:
        name = f"{line.paper}/{line.claim}"
        fixed, ratio = line.fixed or "-", "-" if line.ratio is None else f"{line.ratio:.2f}"
        look = "first look" if line.first else ""
        print(f"{name:52} {line.verdict:9} {line.used:>5} {fixed:>6} {ratio:>6}  {look}".rstrip())
    print(
        f"{summary['claims']} claims, {summary['first_look']} decided at the first look; median of"
        f" replicates used over fixed n: {summary['median_ratio']}, of those decided later"
        f" {summary['median_ratio_later']}; in all {summary['used']} beside {summary['fixed']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
