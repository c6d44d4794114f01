"""The page on mutation testing: a table by module, and what survived with the reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mutants import Mutant

__all__ = ["Tally", "page", "reasons_by_key", "tally"]

HEAD = """\
<!-- Written by tools/mutate.py. -->
# Do the tests notice?

`tools/mutate.py` changes the code that decides claims and names trials, one place at a time: an
edge of a comparison, a sign, a number by one, `and` for `or`, a condition turned round, a statement
left out. Each changed program is a mutant. A test that fails kills it, and so does one that runs
into its time limit (an endless loop) or that can't even be collected. `tools/mutants.py` says what
is changed and what is not.

```
make mutate                                  # everything; about half an hour on two cores
python tools/mutate.py --modules stats.rates # one module
```

"""
KINDS = {
    "equivalent": "Equivalent: what comes out is the same for everything that can go in.",
    "harmless": "Harmless: what changes is speed, room, or a word; no verdict, no key.",
    "open": "Open: a change that matters and that no quick test notices.",
}


@dataclass
class Tally:
    """Mutants of some modules by what became of them."""

    killed: int = 0
    limit: int = 0
    untried: int = 0
    survived: Counter[str] = field(default_factory=Counter)

    @property
    def all(self) -> int:
        """Mutants that were tried."""
        return self.killed + self.limit + self.survived.total()

    @property
    def dead(self) -> int:
        """Those that did not survive."""
        return self.killed + self.limit

    @property
    def share(self) -> float:
        """Those that did not survive among all that were tried."""
        return self.dead / self.all if self.all else math.nan

    @property
    def share_of_real(self) -> float:
        """The same without those that change nothing."""
        real = self.all - self.survived["equivalent"]
        return self.dead / real if real else math.nan


def reasons_by_key(groups: Sequence[Mapping[str, object]]) -> dict[str, tuple[str, str]]:
    """Kind and reason of each mutant that is explained; a reason may stand for several."""
    found: dict[str, tuple[str, str]] = {}
    for group in groups:
        mutants = group["mutants"]
        assert isinstance(mutants, list)
        assert group["kind"] in KINDS, group
        found |= dict.fromkeys(mutants, (str(group["kind"]), str(group["why"])))
    return found


def tally(
    mutants: Sequence[Mutant],
    outcome_of: Callable[[Mutant], str],
    reasons: Mapping[str, tuple[str, str]],
) -> Tally:
    """Count mutants by outcome, survivors by kind of reason."""
    found = Tally()
    for mutant in mutants:
        outcome = outcome_of(mutant)
        found.killed += outcome == "killed"
        found.limit += outcome == "time limit"
        found.untried += not outcome
        if outcome == "survived":
            found.survived[reasons.get(mutant.key, ("unexplained", ""))[0]] += 1
    return found


def _wilson(dead: int, tried: int) -> str:
    z = 1.959964
    share, spread = dead / tried, z * z / tried
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / tried + spread / 4 / tried)
    return f" [{100 * (middle - half):.0f}, {100 * (middle + half):.0f}]"


def _row(name: str, found: Tally, of: int) -> str:
    sampled = _wilson(found.dead, found.all) if of > found.all > 0 else ""
    cells = [
        name,
        f"{found.all}" + (f" of {of}" if of != found.all else ""),
        str(found.killed),
        str(found.limit),
        *(str(found.survived[kind]) for kind in (*KINDS, "unexplained")),
        f"{100 * found.share:.1f} %{sampled}",
        f"{100 * found.share_of_real:.1f} %",
    ]
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    # A bar would end the cell of a table, and a backtick the code.
    return "`" + text.replace("`", "'") + "`"


def page(
    mutants: Sequence[Mutant],
    outcome_of: Callable[[Mutant], str],
    reasons: Mapping[str, tuple[str, str]],
    sizes: Mapping[str, int],
) -> str:
    """The page's text; ``sizes`` are the numbers of mutants that the modules have in all."""
    lines = [
        "| module | mutants | killed by a test | by the time limit | equivalent | harmless | open "
        "| unexplained | killed | killed of those that are not equivalent |",
        "| --- |" + " ---: |" * 9,
    ]
    for module, size in sizes.items():
        own = [mutant for mutant in mutants if mutant.module == module]
        name = f"`{module.removeprefix('probatum.')}`"
        lines.append(_row(name, tally(own, outcome_of, reasons), size))
    lines.append(_row("all", tally(mutants, outcome_of, reasons), sum(sizes.values())))
    text = HEAD + "\n".join(lines) + "\n\n"
    if len(mutants) < sum(sizes.values()):
        text += "Brackets are 95 % Wilson intervals: the mutants of a module are a sample.\n"
    text += (
        "Tests that take more than some seconds have no part in it, so that the share is a lower\n"
        "bound. What survives is listed by the reason why it may.\n"
    )
    survivors = [mutant for mutant in mutants if outcome_of(mutant) == "survived"]
    for kind, said in (*KINDS.items(), ("unexplained", "Without a reason yet.")):
        here = [m for m in survivors if reasons.get(m.key, ("unexplained", ""))[0] == kind]
        if not here:
            continue
        text += f"\n## {kind.capitalize()}\n\n{said}\n"
        why = ""
        for mutant in sorted(here, key=lambda m: (reasons.get(m.key, ("", ""))[1], m.module)):
            reason = reasons.get(mutant.key, ("", "No reason yet"))[1]
            if reason != why:
                text += f"\n{reason}:\n\n"
                why = reason
            place = f"{mutant.module.removeprefix('probatum.')}:{mutant.line}"
            change = f"{_code(mutant.was)} → {_code(mutant.now)}"
            text += f"- {place} {mutant.function}: {change}\n"
    return text
