"""Prefixes for all subscriptions of a call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rules.csv").write_text(
        "id,xpath,namespaces\nall,//p:item,\nown,//p:item,p=urn:own\n"
    )
    (tmp_path / "a.xml").write_text('<item xmlns="urn:all"/>')
    (tmp_path / "b.xml").write_text('<item xmlns="urn:own"/>')
    return tmp_path


@pytest.mark.usefixtures("place")
def test_a_prefix_for_all_gives_way_to_that_of_a_subscription(twigcast: Twigcast) -> None:
    words = ("match", "rules.csv", "a.xml", "b.xml")
    assert "column 3" in twigcast(*words).stderr
    result = twigcast(*words, "--namespace", "p=urn:all")
    assert (result.exit_code, result.stdout) == (0, "a.xml\tall\nb.xml\town\n")


@pytest.mark.usefixtures("place")
def test_check_takes_prefixes_for_all(twigcast: Twigcast) -> None:
    result = twigcast("check", "rules.csv", "--namespace", "p=urn:all", "--namespace", "q=urn:q")
    assert result.exit_code == 0
    assert "//{urn:all}item" in result.stdout
    assert "//{urn:own}item" in result.stdout


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("word", ["nonsense", "=urn:a", "a=", "1=urn:a", "a b=urn:a", "a:b=urn:a"])
def test_what_binds_no_prefix_is_refused(twigcast: Twigcast, word: str) -> None:
    result = twigcast("check", "rules.csv", "--namespace", word)
    assert result.exit_code == 2
    assert "--namespace takes PREFIX=URI" in result.stderr
