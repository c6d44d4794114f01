"""``probatum report`` from the command line."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest


@pytest.fixture
def checked(probatum):
    assert probatum("check", "coins", "--jobs", "0").code == 0
    return probatum


def test_a_site_is_written_and_brought_up_to_date(checked, toy):
    ran = checked("report", "--out", "site", "--json")
    said = ran.object("report")
    assert ran.code == 0
    assert said["index"] == (toy / "site" / "index.html").as_uri()
    pages = sorted(str(path.relative_to(toy / "site")) for path in toy.glob("site/**/*.html"))
    assert said["pages"] == len(pages)
    assert "papers/coins.html" in pages
    assert checked("report", "--out", "site", "--json").object("report")["written"] == 0


def test_it_says_where_it_is(checked, toy):
    ran = checked("report")
    assert "probatum-report" in ran.out
    assert "index.html" in ran.out


def test_what_the_store_holds_is_marked_as_such(checked, toy):
    checked("report", "--out", "site")
    text = (toy / "site" / "papers" / "coins.html").read_text()
    assert "your store" in text
    assert "shipped evidence" not in text
    assert "quick profile" in text


def test_another_store_is_named_or_said_to_be_missing(checked, toy):
    ran = checked("report", "--store", "none.db")
    assert ran.code == 3
    assert "there is no store" in ran.err
    assert not Path("probatum-report").exists()
    os.rename(".probatum/evidence.db", "mine.db")
    checked("report", "--store", "mine.db", "--out", "site")
    assert "your store" in Path("site/papers/coins.html").read_text()


def test_a_folder_with_other_things_is_left_alone(probatum, toy):
    Path("mine").mkdir()
    Path("mine/index.html").write_text("mine")
    ran = probatum("report", "--out", "mine")
    assert (ran.code, ran.out) == (2, "")
    assert "mine holds files that are not a report" in ran.err
    assert Path("mine/index.html").read_text() == "mine"
    assert os.listdir("mine") == ["index.html"]


def test_a_file_is_no_folder(probatum, toy):
    Path("site").write_text("")
    ran = probatum("report", "--out", "site")
    assert ran.code == 2
    assert "site is a file, not a folder" in ran.err


def test_a_damaged_store_gives_one_line(checked, toy):
    with sqlite3.connect(".probatum/evidence.db") as connection:
        connection.execute("update trials set rows = '{' where id = 1")
    ran = checked("report", "--out", "site")
    assert ran.code == 3
    assert "can't be read" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(probatum, toy):
    Path("site").mkdir(mode=0o500)
    ran = probatum("report", "--out", "site/below")
    assert ran.code == 3
    assert "can't write the report" in ran.err


def test_writing_fails_with_one_line(probatum, toy, monkeypatch):
    from probatum.report import site

    def refuse(*_):
        raise OSError(28, "No space left on device", "site/index.html")

    monkeypatch.setattr(site, "whole_file", refuse)
    ran = probatum("report", "--out", "site")
    assert ran.code == 3
    assert "No space left on device" in ran.err


def test_opening_needs_a_browser(probatum, toy, monkeypatch):
    import typer

    opened = []
    monkeypatch.setattr(typer, "launch", lambda address: opened.append(address) or 0)
    probatum("report", "--out", "site", "--open")
    assert opened == [(toy / "site" / "index.html").as_uri()]
    monkeypatch.setattr(typer, "launch", lambda address: 1)
    ran = probatum("report", "--out", "site", "--open")
    assert ran.code == 3
    assert "no browser could be started" in ran.err


def test_questions_on_own_data_stand_apart(probatum, toy_open):
    Path("mine.csv").write_text("y=3\n")
    brought = ("--data", "mine.csv", "--target", "y")
    ran = probatum("check", "openable/higher", *brought, "--jobs", "0")
    assert ran.code == 0, ran.err
    probatum("report", "--out", "site")
    own = Path("site/own.html").read_text()
    assert "openable/higher" in own
    assert "mine.csv" in own
    assert "--data mine.csv --target y" in own
    assert "mine.csv" not in Path("site/papers/openable.html").read_text()
