"""`probatum use`: signatures become commands, errors one line, output whole or not at all."""

from pathlib import Path
from typing import Annotated

import pytest

from probatum.evidence import Answer


@pytest.fixture
def ball(probatum, toy_open):
    (toy_open / "level.txt").write_text("1")

    def call(*arguments):
        return probatum("use", "throw", *arguments)

    return call


def test_tools_are_listed(probatum, toy_open):
    ran = probatum("use")
    assert ran.code == 0
    assert "throw" in ran.out
    assert "Throws a ball." in ran.out


def test_help_comes_from_the_signature(ball):
    ran = ball("--help")
    assert ran.code == 0
    assert "\\[" not in ran.out
    for said in (
        "LEVEL_FILE",
        "file with a number",
        "--edge",
        "metres",
        "[over|under]",
        "-o",
        "--twice",
        "--json",
    ):
        assert said in ran.out
    assert "probatum use throw level.txt --edge 0.5" in ran.out
    assert "--progress" not in ran.out
    assert "Parameters" not in ran.out


def test_lines_for_people(ball, toy):
    ran = ball("level.txt", "--edge", "0.5", "--twice", "-o", "out.txt")
    assert ran.code == 0
    assert "over: 3 m [bold]" in ran.out
    assert "written: out.txt" in ran.out
    assert ran.err == "probatum: windy\n"
    assert (toy / "out.txt").read_text() == "3.0\n"


def test_options_may_come_first(ball):
    assert "under: 1.2 m" in ball("--style", "under", "level.txt").out


def test_json_for_programs(ball):
    found = ball("level.txt", "--json").object("use")
    assert found["values"] == {"height": 1.2, "bad": None}
    assert (found["tool"], found["paper"], found["warnings"]) == ("throw", "openable", ["windy"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nothing.txt"], 3, "nothing.txt"),
        (["."], 3, "."),
        ([], 2, "LEVEL_FILE"),
        (["level.txt", "--edge", "far"], 2, "far"),
        (["level.txt", "--style", "sideways"], 2, "sideways"),
        (["level.txt", "--nonsense"], 2, "--nonsense"),
        (["level.txt", "-o", "no/such/out.txt"], 3, "no/such"),
        (["level.txt", "-o", "."], 3, "folder"),
    ],
)
def test_bad_input_is_one_line(ball, arguments, code, said):
    ran = ball(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_values_out_of_range_are_misuse(ball, toy):
    (toy / "level.txt").write_text("-3")
    ran = ball("level.txt")
    assert (ran.code, ran.err) == (2, "probatum: the level must be at least 0, got -3\n")


def test_no_answer_to_what_was_asked(ball, toy):
    (toy / "level.txt").write_text("0.1")
    ran = ball("level.txt", "-o", "out.txt")
    assert (ran.code, ran.err.splitlines()[-1]) == (3, "probatum: fell short of half a metre")
    assert "over: 0.3 m" in ran.out
    assert ball("level.txt", "--json").object("use")["incomplete"] == "fell short of half a metre"


def test_unknown_tool_names_the_nearest(probatum, toy_open):
    ran = probatum("use", "thraw")
    assert ran.code == 2
    assert "nearest: throw" in ran.err


def test_a_missing_library_says_what_installs_it(ball, monkeypatch):
    def absent(*_, **__):
        raise ModuleNotFoundError("No module named 'rockets'", name="rockets")

    from toy_open import openable

    monkeypatch.setattr(openable.Answer, "__init__", absent)
    ran = ball("level.txt")
    assert ran.code == 3
    assert "rockets is not installed: pip install 'probatum[all]'" in ran.err


def test_a_tool_that_gives_no_answer_is_named(ball, monkeypatch):
    from toy_open import openable

    def silent(level_file: Annotated[Path, "file with a number"]) -> Answer:
        """Throw nothing."""

    monkeypatch.setattr(openable, "throw", silent)
    for arguments in ((), ("--json",)):
        ran = ball("level.txt", *arguments)
        assert (ran.code, ran.out) == (3, "")
        assert ran.err == "probatum: throw: toy_open.openable:throw gave no answer but a NoneType\n"
