"""Open experiments: a paper's claims asked of a reader's data, and beside a reader's method.

The claims of an opened paper are named after those that they come from: the same claim where only
the data are the reader's, ``CLAIM+of-NAME`` with the reader's method in the place of the paper's,
and ``CLAIM+against-NAME`` with the reader's method as the only rival. Each has the error level of
the claim that it comes from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from probatum.evidence.criteria import AllOf, Criterion, Every, Rate, Within
from probatum.evidence.model import Arm, Claim, Dataset, Experiment, Paper, resolve
from probatum.evidence.naming import check_slug, check_target
from probatum.evidence.store import Record

__all__ = ["Opened", "Own", "declared", "open_paper", "open_selection", "parse_arm"]


@dataclass(frozen=True)
class Own:
    """What a reader brings: files of data, options that say how to read them, methods by name."""

    files: tuple[Path, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    arms: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files or self.options or self.arms)


@dataclass(frozen=True)
class Opened:
    """A paper whose experiments were opened.

    ``origin`` gives the claim that each of its claims comes from; ``closed`` says of claims of the
    paper why they can't be asked.
    """

    paper: Paper
    origin: Mapping[str, str]
    closed: Mapping[str, str]


def open_selection(
    selection: Sequence[tuple[Paper, Claim]], own: Own
) -> tuple[list[tuple[Paper, Claim]], list[str]]:
    """The claims of one paper, asked of what a reader brings, and why others of them can't be.

    Raises
    ------
    ValueError
        If claims of several papers are selected, if none of them can be asked, or as
        :func:`open_paper` does.
    OSError
        If a file can't be read.
    """
    slugs = dict.fromkeys(paper.slug for paper, _ in selection)
    if len(slugs) != 1:
        raise ValueError(f"data and arms of one's own go with one paper, got {', '.join(slugs)}")
    paper = selection[0][0]
    chosen = {claim.id for _, claim in selection}
    opened = open_paper(paper, own, chosen)
    pairs = [(opened.paper, c) for c in opened.paper.claims if opened.origin[c.id] in chosen]
    reasons: dict[str, list[str]] = {}
    for claim_id, why in opened.closed.items():
        if claim_id in chosen:
            reasons.setdefault(why, []).append(claim_id)
    closed = [f"{', '.join(ids)}: {why}" for why, ids in reasons.items()]
    if not pairs:
        raise ValueError(f"{paper.slug}: nothing to ask: {'; '.join(closed)}")
    return pairs, closed


def parse_arm(text: str) -> tuple[str, str]:
    """Name and ``module:attribute`` of ``NAME=MODULE:ATTR``.

    Examples
    --------
    >>> parse_arm("mine=my_package:MyClassifier")
    ('mine', 'my_package:MyClassifier')
    """
    name, equals, target = text.partition("=")
    if not equals:
        raise ValueError(f"an arm is given as NAME=MODULE:ATTR, got {text!r}")
    check_slug("arm name", name)
    check_target(f"arm {name}", target)
    return name, target


def open_paper(paper: Paper, own: Own, chosen: Collection[str] | None = None) -> Opened:
    """Put a reader's files and methods into the experiments that take them.

    Each file is a data set in the place of the paper's. Only experiments that the chosen claims
    read (all by default) look at files and methods; where experiments ask for different things, it
    is enough that one of them is served.

    Raises
    ------
    ValueError
        If a file, option or method is not what any experiment needs; nothing has run then.
    OSError
        If a file can't be read.
    """
    if own.options and not own.files:
        raise ValueError(f"{', '.join(own.options)}: says how to read data, but no file is given")
    asked = [c.experiment for c in paper.claims if chosen is None or c.id in chosen]
    slots = {e.data_slot: None for e in asked if e is not None and e.data_slot and own.files}
    faces = {(e.arm_interface, e.arm_make): None for e in asked if e is not None and own.arms}
    read, unread = _attempts(slots, lambda slot: _read(paper.slug, slot, own))
    _, unfit = _attempts(
        (face for face in faces if face[0] is not None), lambda face: _check_arms(own.arms, *face)
    )
    experiments: dict[str, Experiment] = {}
    closed, claims, origin = {}, [], {}
    for claim in paper.claims:
        experiment = claim.experiment
        why = _why_closed(experiment, own)
        if why or experiment is None:
            closed[claim.id] = why
            continue
        error = unread.get(experiment.data_slot or "")
        error = error or unfit.get((experiment.arm_interface, experiment.arm_make))
        if error is not None:
            closed[claim.id] = str(error)
            continue
        if experiment.id not in experiments:
            experiments[experiment.id] = _opened(experiment, read, own.arms)
        for question in _questions(
            claim, experiments[experiment.id], bool(own.files), list(own.arms)
        ):
            claims.append(question)
            origin[question.id] = claim.id
    # Every question is asked at the level of the claim that it comes from.
    shares = paper.level_shares or sum(claim.stochastic for claim in paper.claims)
    opened = replace(paper, claims=_lean(claims), level_shares=shares)
    return Opened(opened, origin, closed)


Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


def _attempts(
    keys: Iterable[Key], do: Callable[[Key], Found]
) -> tuple[dict[Key, Found], dict[Key, Exception]]:
    """What came of each key, and what went wrong; raises the first error if all went wrong."""
    done: dict[Key, Found] = {}
    failed: dict[Key, Exception] = {}
    for key in keys:
        try:
            done[key] = do(key)
        except (ValueError, TypeError, OSError) as error:
            failed[key] = error
    if failed and not done:
        raise next(iter(failed.values()))
    return done, failed


def _lean(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims, on experiments without the arms that none of them reads."""
    read: dict[str, set[str]] = {}
    for claim in claims:
        assert claim.experiment is not None
        of = read.setdefault(claim.experiment.id, set())
        of |= {arm.id for arm in claim.experiment.arms if arm.role == "control" or arm.own}
        for part in claim.parts:
            of |= {part.arm, *(part.to if isinstance(part, Within) else ())}
    lean: dict[str, Experiment] = {}
    for claim in claims:
        assert claim.experiment is not None
        wanted = read[claim.experiment.id]
        kept = tuple(arm for arm in claim.experiment.arms if arm.id in wanted)
        lean.setdefault(claim.experiment.id, replace(claim.experiment, arms=kept))
    return tuple(replace(c, experiment=lean[c.experiment.id]) for c in claims if c.experiment)


def _why_closed(experiment: Experiment | None, own: Own) -> str:
    if experiment is None:
        return "nothing here can try it"
    if own.files and experiment.data_slot is None:
        return "asked of data of its own, takes no other"
    if own.arms and experiment.arm_interface is None:
        return "asked of the method alone, takes no other beside it"
    return ""


def _read(slug: str, slot: str, own: Own) -> tuple[Dataset, ...]:
    """Data sets of the reader's files."""
    read = resolve(slot)
    known = {
        name: parameter
        for name, parameter in inspect.signature(read).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    for name in own.options:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise ValueError(f"{slug}: unknown option {name!r} for data; known: {takes}")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in own.options:
            how = "--target COL" if name == "target" else f"--with {name}=VALUE"
            raise ValueError(f"{slug}: the data need {how}")
    return tuple(_unique([_marked(read(Path(file), **own.options)) for file in own.files]))


def _marked(dataset: Dataset) -> Dataset:
    """A data set that no one takes for one of the catalog's."""
    named = dataset.id if dataset.id.startswith("own-") else f"own-{dataset.id}"
    return replace(dataset, id=named, own=True)


def _unique(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Data sets under ids of their own: two files may have one name, but not one content."""
    seen: dict[str, int] = {}
    contents: dict[object, str] = {}
    found = []
    for dataset in datasets:
        if dataset.identity is not None:
            content = resolve(dataset.identity)(**dataset.params)
            if content in contents:
                raise ValueError(
                    f"{contents[content]} and {dataset.id} hold the same data: counted twice, they "
                    "would look like twice the evidence"
                )
            contents[content] = dataset.id
        seen[dataset.id] = seen.get(dataset.id, 0) + 1
        number = seen[dataset.id]
        found.append(dataset if number == 1 else replace(dataset, id=f"{dataset.id}-{number}"))
    return found


def _opened(
    experiment: Experiment, taken: Mapping[str, tuple[Dataset, ...]], arms: Mapping[str, str]
) -> Experiment:
    own = []
    for name, target in arms.items():
        if name in [arm.id for arm in experiment.arms]:
            known = ", ".join(arm.id for arm in experiment.arms)
            raise ValueError(f"arm {name!r} is there already (arms: {known}); choose another name")
        # What an arm is made with is in its key, and the code behind it in its fingerprint.
        made = Arm(name, experiment.arm_make or target, "baseline", own=target)
        own.append(made)
    datasets = taken.get(experiment.data_slot or "", experiment.datasets)
    return replace(experiment, arms=(*experiment.arms, *own), datasets=datasets)


def _questions(
    claim: Claim, experiment: Experiment, data: bool, names: Sequence[str]
) -> list[Claim]:
    """The claims that one claim of the paper turns into."""
    found = [replace(claim, experiment=experiment)] if data else []
    methods = {arm.id for arm in experiment.arms if arm.role == "method"}
    for name in names:
        of = [_of(part, name) if part.arm in methods else part for part in claim.parts]
        if of != list(claim.parts):
            found.append(_asked(claim, experiment, f"of-{name}", f"Asked of {name}: ", of))
        against = [
            replace(part, to=(name,))
            for part in claim.parts
            if isinstance(part, Within) and part.to and part.arm in methods
        ]
        if against:
            found.append(
                _asked(claim, experiment, f"against-{name}", f"Against {name} alone: ", against)
            )
    return found


def _of(part: Within | Rate | Every, name: str) -> Within | Rate | Every:
    return replace(part, arm=name)


def _asked(
    claim: Claim,
    experiment: Experiment,
    suffix: str,
    prefix: str,
    parts: Sequence[Within | Rate | Every],
) -> Claim:
    criterion: Criterion = parts[0] if len(parts) == 1 else AllOf(tuple(parts))
    return replace(
        claim,
        id=f"{claim.id}+{suffix}",
        statement=prefix + claim.statement,
        experiment=experiment,
        criterion=criterion,
        analysis="",
    )


# --- a reader's method ---------------------------------------------------------------------------


def _check_arms(arms: Mapping[str, str], interface: str | None, make: str | None) -> None:
    assert interface is not None
    for name, target in arms.items():
        check_interface(name, target, interface, make)


def check_interface(name: str, target: str, interface: str, make: str | None) -> None:
    """ValueError unless what `target` names has the methods of a Protocol.

    A class is looked at as it is first. Then the arm's factory is asked for an object by
    ``probe()``, if it has that; what comes is looked at too.
    """
    found = _imported(name, target)
    protocol = resolve(interface)
    if inspect.isclass(found):
        _check_methods(name, target, found, protocol)
    elif not callable(found):
        raise ValueError(f"arm {name}: {target} is a {type(found).__name__}, not a class")
    try:
        factory = resolve(make)(make=target) if make else None
        probe = getattr(factory, "probe", None)
        if probe is None:
            return
        made = probe()
    except ValueError as error:
        raise ValueError(f"arm {name}: {error}") from error
    except Exception as error:
        raise ValueError(
            f"arm {name}: {target} can't be built: {type(error).__name__}: {error}"
        ) from error
    _check_methods(name, target, made, protocol)


def _check_methods(name: str, target: str, candidate: Any, protocol: Any) -> None:
    about = " ".join((inspect.getdoc(protocol) or protocol.__name__).split())
    for method, declared_as in _methods(protocol).items():
        own = getattr(candidate, method, None)
        if own is None or not callable(own):
            raise ValueError(
                f"arm {name}: {target} has no method {method!r}; it needs "
                f"{', '.join(_methods(protocol))}. {about}"
            )
        _check_call(f"arm {name}: {target}.{method}", own, declared_as, inspect.isclass(candidate))


def _imported(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    if module.endswith(".py"):
        raise ValueError(f"arm {name}: give the module's name, {module[:-3]}, not its file")
    try:
        return resolve(target)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"arm {name}: can't import {error.name or module}; run in the folder that holds it, "
            "or install it"
        ) from error
    except AttributeError as error:
        raise ValueError(f"arm {name}: {module} has no {attribute!r} ({error})") from error
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"arm {name}: importing {module} failed: {type(error).__name__}: {error}"
        ) from error


def _methods(protocol: Any) -> dict[str, Any]:
    return {
        name: member
        for name, member in vars(protocol).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def _check_call(where: str, own: Any, declared_as: Any, unbound: bool) -> None:
    """ValueError unless a method can be called with the arguments that the Protocol's takes."""
    required = [
        parameter
        for parameter in list(inspect.signature(declared_as).parameters.values())[1:]
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    try:
        signature = inspect.signature(own)
    except (TypeError, ValueError):
        return
    bound_first = unbound and not isinstance(own, staticmethod | classmethod)
    try:
        signature.bind(*[None] * (len(required) + (bound_first and not inspect.ismethod(own))))
    except TypeError as error:
        wanted = ", ".join(parameter.name for parameter in required)
        raise ValueError(f"{where} must take ({wanted}), it takes {signature}: {error}") from None


def declared(paper: Paper, record: Record) -> bool:
    """Whether a stored trial is one of the paper's own, with neither data nor arm of a reader."""
    for known in paper.experiments:
        if known.id == record.experiment:
            arms = {arm.id for arm in known.arms}
            ran = {record.arm} - {"*"} | {row.arm for row in record.rows}
            return ran <= arms and record.dataset in [d.id for d in known.datasets]
    return False
