"""What was asked and what came out, as a store keeps it beside the trials.

Trials alone do not say which question they were run for: whose file, read how, whose method, at
which profile. An answer says so, in words of its own, so that it can be shown when the file or the
module is gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from probatum.evidence.forms import moment

__all__ = ["Remembered", "answer_id", "answers_table", "plain_text", "row_of", "row_read"]

_DESCRIBED = ("claim", "title", "statement", "criterion")


def plain_text(text: str) -> str:
    """Text that every database and page takes: no lone surrogates, no NUL.

    Examples
    --------
    >>> plain_text(chr(0xDC80) + "a" + chr(0))
    '\\\\udc80a\\\\0'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


@dataclass(frozen=True)
class Remembered:
    """The last answer to one question, asked of one thing, at one profile.

    Parameters
    ----------
    paper, question, profile : str
        Slug; the claim's id, with ``+of-NAME`` or ``+against-NAME`` where a reader's method was
        asked; what could be spent.
    decision : mapping
        The decision as plain JSON values, as ``probatum check --json`` prints it.
    decided : float
        When it was given, in seconds since 1970.
    own : mapping
        What the reader brought that this question reads: ``data``, a list of ``file`` (as it was
        given), ``dataset`` (its id) and ``content`` (a hash, or nothing); ``options``, how the data
        were read; ``arms``, ``module:attribute`` by name. Empty where the paper's own claim was
        asked.
    claim : str
        The claim of the paper that the question comes from.
    title, statement, criterion : str
        Paper and question at that time, the criterion in words.
    controls : mapping of str to str
        The verdict on the same question, asked of each negative control.
    replicates : int or None
        Most replicates, where another number than the profile's was asked for.
    environment : str
        Machine and versions, by the id that :meth:`probatum.evidence.store.Store.environments`
        gives.
    """

    paper: str
    question: str
    profile: str
    decision: Mapping[str, Any]
    decided: float
    own: Mapping[str, Any] = field(default_factory=dict)
    claim: str = ""
    title: str = ""
    statement: str = ""
    criterion: str = ""
    controls: Mapping[str, str] = field(default_factory=dict)
    replicates: int | None = None
    environment: str = ""

    @property
    def id(self) -> str:
        """The same for all answers of which only the latest is kept."""
        return answer_id(self.paper, self.question, self.profile, self.own)


def answer_id(paper: str, question: str, profile: str, own: Mapping[str, Any]) -> str:
    """Identity of an answer: the question, what was brought, and the profile.

    A file counts as what it holds, wherever it lies, as it does in the keys of trials.

    Examples
    --------
    >>> here, there = (
    ...     {"data": [{"file": file, "dataset": "own-a", "content": "71d0"}]}
    ...     for file in ("a.csv", "old/a.csv")
    ... )
    >>> answer_id("p", "c", "quick", here) == answer_id("p", "c", "quick", there)
    True
    """
    contents = sorted(entry["content"] or f"file {entry['file']}" for entry in own.get("data", ()))
    brought = [contents, dict(own.get("options", {})), dict(own.get("arms", {}))]
    text = json.dumps(_plain([paper, question, profile, brought]), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def answers_table(meta: sa.MetaData) -> sa.Table:
    """The table of answers; what is only shown is JSON, so that it may grow in old stores."""
    return sa.Table(
        "answers",
        meta,
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("paper", sa.String, nullable=False),
        sa.Column("question", sa.String, nullable=False),
        sa.Column("profile", sa.String, nullable=False),
        sa.Column("decided", sa.Float, nullable=False),
        sa.Column("environment", sa.String, nullable=False),
        sa.Column("decision", sa.Text, nullable=False),
        sa.Column("own", sa.Text, nullable=False),
        sa.Column("described", sa.Text, nullable=False),
    )


def row_of(answer: Remembered, environment: str) -> dict[str, Any]:
    """An answer as a row of the table."""
    described = {name: getattr(answer, name) for name in _DESCRIBED}
    return {
        "id": answer.id,
        "paper": plain_text(answer.paper),
        "question": plain_text(answer.question),
        "profile": plain_text(answer.profile),
        "decided": answer.decided,
        "environment": environment,
        "decision": _dumped(answer.decision),
        "own": _dumped(answer.own),
        "described": _dumped(
            {**described, "controls": answer.controls, "replicates": answer.replicates}
        ),
    }


def row_read(row: Mapping[str, Any]) -> Remembered:
    """The answer in a row.

    Raises
    ------
    ValueError
        If the row is not as :func:`row_of` made it.
    """
    try:
        decision, own, described = (_object(row, name) for name in ("decision", "own", "described"))
        if not isinstance(decision.get("verdict"), str):
            raise ValueError("decision has no verdict")
        _check_own(own)
        if not moment(row["decided"]):
            raise ValueError(f"decided must be a time, got {row['decided']!r}")
        replicates = described.get("replicates")
        if not isinstance(replicates, int | None):
            raise ValueError(f"replicates must be a number, got {replicates!r}")
        return Remembered(
            *(row["paper"], row["question"], row["profile"]),
            decision=decision,
            decided=float(row["decided"]),
            own=own,
            **{name: str(described.get(name, "")) for name in _DESCRIBED},
            controls=_texts(described.get("controls", {})),
            replicates=replicates,
            environment=row["environment"],
        )
    except (ValueError, TypeError, RecursionError) as error:
        asked = f"{row['paper']}/{row['question']} ({row['profile']}, row {row['id']})"
        raise ValueError(f"the answer to {asked} can't be read: {error}") from None


def _plain(value: Any) -> Any:
    """Plain JSON values, with text that every page takes."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, Mapping):
        return {plain_text(str(name)): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _dumped(value: Mapping[str, Any]) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _object(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = json.loads(row[name])
    if not isinstance(found, dict):
        raise ValueError(f"{name} holds no object")
    return found


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f"texts by name were expected, got {value!r}")
    return value


def _check_own(own: Mapping[str, Any]) -> None:
    """ValueError unless what was brought has the form that pages rely on."""
    data, named = own.get("data", []), (own.get("options", {}), own.get("arms", {}))
    entries = isinstance(data, list) and all(
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("file", "dataset", "content"))
        for entry in data
    )
    texts = all(
        isinstance(given, dict) and all(isinstance(text, str) for text in given.values())
        for given in named
    )
    if not entries or not texts:
        raise ValueError("own does not say what was brought")
