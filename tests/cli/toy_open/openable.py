"""A paper whose experiment takes a reader's data and methods, and whose method is a tool."""

from pathlib import Path
from typing import Annotated, Literal, Protocol

from probatum.evidence import (
    Answer,
    Arm,
    Budget,
    Claim,
    Dataset,
    Experiment,
    Metric,
    Paper,
    Progress,
    Stat,
    Tool,
    Within,
)

HERE = "toy_open.openable"


class Player(Protocol):
    """Throws once, given a level and a generator.

    More about it.
    """

    def throw(self, level, rng): ...


class Skilled:
    """Throws above the level."""

    def __init__(self, edge=0.2):
        self.edge = edge

    def throw(self, level, rng):
        return level + self.edge + 0.02 * rng.normal()


class Thrower(Protocol):
    """Throws once and rests."""

    def throw(self, level, rng): ...
    def rest(self): ...


class Readers:
    """Arm of a reader's class."""

    def __init__(self, make):
        from probatum.evidence.model import resolve

        self.player = resolve(make)()

    def probe(self):
        return self.player

    def throw(self, level, rng):
        return self.player.throw(level, rng)


def level(value, file=""):
    """Data: one number."""
    return value


def level_identity(value, file=""):
    """What the data are, wherever they lie."""
    return str(value)


def level_of(file: Path, *, target: str, scale: str = "1") -> Dataset:
    """A reader's file holds lines NAME=NUMBER; the target names the one that counts."""
    lines = dict(line.split("=") for line in file.read_text().splitlines())
    if target not in lines:
        raise ValueError(f"{file} has no {target!r}: it has {', '.join(lines)}")
    value = float(lines[target]) * float(scale)
    params = {"value": value, "file": str(file.absolute())}
    licence = "the reader's own"
    return Dataset(file.stem, f"{HERE}:level", licence, params, f"{HERE}:level_identity")


def trial(block):
    """One throw."""
    from probatum.evidence import Row

    arm = block.arms[0]
    thrown = arm.build().throw(block.dataset.open(), block.rng(arm.id))
    return [Row(arm.id, values={"height": float(thrown)})]


def throw(
    level_file: Annotated[Path, "file with a number"],
    *,
    edge: Annotated[float, "how far above the level (metres)"] = 0.2,
    style: Annotated[Literal["over", "under"], "how to throw"] = "over",
    twice: Annotated[bool, "throw twice"] = False,
    output: Annotated[Path | None, "file for the height"] = None,
    progress: Progress,
) -> Answer:
    """Throw.

    The level is read from a file.

    Parameters
    ----------
    level_file : Path
    """
    from probatum.files import whole_file

    value = float(level_file.read_text())
    progress(1, 2, "throwing")
    if value < 0:
        raise ValueError(f"the level must be at least 0, got {value:g}")
    height = (value + edge) * (2 if twice else 1)
    if output is not None:
        with whole_file(output) as draft:
            draft.write_text(f"{height}\n")
    lines = (f"{style}: {height:g} m [bold]",)
    files = (output,) if output is not None else ()
    low = "fell short of half a metre" if height < 0.5 else ""
    return Answer(lines, {"height": height, "bad": float("nan")}, files, ("windy",), low)


def write_example(folder: Path) -> None:
    """The file of the example."""
    (folder / "level.txt").write_text("1")


THROWS = Experiment(
    "throws",
    trial=f"{HERE}:trial",
    arms=(
        Arm("skilled", f"{HERE}:Skilled", "method"),
        Arm("average", f"{HERE}:Skilled", params={"edge": 0.0}),
        Arm("clumsy", f"{HERE}:Skilled", "control", params={"edge": 0.01}),
    ),
    datasets=(Dataset("one", f"{HERE}:level", "CC0", {"value": 1.0}),),
    metrics={"height": Metric("higher")},
    budgets={"smoke": Budget(10), "quick": Budget(20), "standard": Budget(20)},
    arm_interface=f"{HERE}:Player",
    arm_make=f"{HERE}:Readers",
    data_slot=f"{HERE}:level_of",
)
RESTS = Experiment(
    "rests",
    trial=f"{HERE}:trial",
    arms=THROWS.arms,
    datasets=THROWS.datasets,
    metrics=THROWS.metrics,
    budgets=THROWS.budgets,
    arm_interface=f"{HERE}:Thrower",
    arm_make=f"{HERE}:Readers",
)
CLOSED = Experiment(
    "closed",
    trial=f"{HERE}:trial",
    arms=THROWS.arms,
    datasets=THROWS.datasets,
    metrics=THROWS.metrics,
    budgets=THROWS.budgets,
)

PAPER = Paper(
    slug="openable",
    title="Throwing",
    domain="evaluation",
    fidelity="abstract",
    methods=(f"{HERE}:Skilled",),
    summary="Throws.",
    claims=(
        Claim(
            "higher",
            "It throws higher than average.",
            "paper",
            THROWS,
            Within(Stat("height"), "skilled", to=("average",), low=0.1),
        ),
        Claim(
            "high",
            "It throws above one.",
            "paper",
            THROWS,
            Within(Stat("height"), "skilled", scale="absolute", low=1.1),
        ),
        Claim(
            "closed",
            "It throws higher on its own ground.",
            "paper",
            CLOSED,
            Within(Stat("height"), "skilled", to=("average",), low=0.1),
        ),
        Claim(
            "rested",
            "It throws higher when rested.",
            "paper",
            RESTS,
            Within(Stat("height"), "skilled", to=("average",), low=0.1),
        ),
        Claim("moon", "It throws on the moon.", "target", missing="a moon"),
    ),
    tools=(
        Tool(
            "throw",
            f"{HERE}:throw",
            "Throws a ball.",
            "level.txt --edge 0.5",
            f"{HERE}:write_example",
        ),
    ),
)
