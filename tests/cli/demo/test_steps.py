"""The steps of ``twigcast demo``: what it is called with, and once all of it on Spark."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.test_readme import strategies
from twigcast.cli.demo.regions import NEWSROOM, country
from twigcast.cli.demo.steps import program_name, shell_quoted
from twigcast.cli.demo.strategy_traffic import COMPARED
from twigcast.errors import UsageError
from twigcast.files import read_documents, read_subscriptions
from twigcast.files.topologies import read_topology
from twigcast.matching import Matcher

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

pytest.importorskip("pyspark")


def test_shell_words_read_back_as_they_were() -> None:
    texts = ["//a[. = 'b']", "feed.zip!a.xml", 'it\'s "both"', "$HOME", "plain", "a`b'", "\\'"]
    assert [shlex.split(shell_quoted(text)) for text in texts] == [[text] for text in texts]


def test_a_missing_java_is_said_before_anything_is_made(
    twigcast: Twigcast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_java() -> None:
        raise UsageError("Spark needs Java 17 or newer and none was found: install one")

    monkeypatch.setattr("twigcast.spark.session.java.find_java", find_java)
    result = twigcast("demo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr == "twigcast: Spark needs Java 17 or newer and none was found: install one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_program_is_named_as_it_can_be_called_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/twigcast", "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program_name() == ".venv/bin/twigcast"
    known = tmp_path / "twigcast"
    known.touch(mode=0o755)
    assert program_name() == "twigcast"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two strategies beside the main one are enough for tests."""
    for name in set(COMPARED) - {"flooding", "advertised"}:
        monkeypatch.delitem(COMPARED, name)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("compared", "spark")
def test_a_small_demo_tells_who_received_what(twigcast: Twigcast, tmp_path: Path) -> None:
    result = twigcast("demo", "--documents", "40", "--subscriptions", "300")
    assert result.exit_code == 0, result.stderr
    headings = (
        "Who received what",
        "How long it took",
        "What each strategy sent over links",
        "Why one subscription did not match",
        "Go on with",
    )
    assert all(f"\n{heading}\n" in result.stdout for heading in headings)
    out = tmp_path / "demo"
    assert "Who received what" in (out / "report.html").read_text(encoding="utf-8")

    needed, deliveries = _needed_links(out)
    told = {
        line.split()[0]: [int(word.replace(",", "")) for word in line.split()[1::3]]
        for line in result.stdout.splitlines()
        if line.split()[:1] and line.split()[0] in {"flooding", "advertised", "best"}
    }
    assert told["flooding"] == [40 * len(country().links), 0]
    assert told["best"][0] == told["advertised"][0] == needed
    assert 0 < told["advertised"][1] <= told["best"][1]
    assert f"The same {deliveries:,} deliveries under every strategy." in result.stdout
    command = re.search(r"  twigcast (explain .*)", result.stdout)
    assert command is not None
    assert twigcast(*shlex.split(command[1])).stdout.startswith("no match: ")


@pytest.mark.deep
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark")
def test_the_table_of_the_readme_is_that_of_the_demo(twigcast: Twigcast) -> None:
    result = twigcast("demo")
    assert result.exit_code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    start = rows.index(["strategy", "crossings", "needless", "MB", "routes"]) + 1
    shown = {name: figures for name, *figures in rows[start : start + len(COMPARED) + 1]}
    assert shown == strategies()


def _needed_links(out: Path) -> tuple[int, int]:
    """How many links documents have to cross, and how many deliveries there are, one by one."""
    asked = read_subscriptions(out / "subscriptions.csv").subscriptions
    tree = read_topology(out / "topology.toml").tree()
    matcher = Matcher(engine="lxml")
    for place, one in enumerate(asked):
        matcher.add(place, one.xpath)
    needed = deliveries = 0
    for _, content in read_documents(out / "feed.zip"):
        assert isinstance(content, bytes)
        found = matcher.match(content)
        deliveries += len(found)
        paths = {tree.path(NEWSROOM, asked[place].broker or "") for place in found}
        needed += len({broker for path in paths for broker in path[1:]})
    return needed, deliveries


@pytest.mark.parametrize("option", ["--documents", "--subscriptions"])
@pytest.mark.parametrize("number", ["1000001", "99999999999999999999"])
def test_a_demo_that_nobody_could_wait_for_is_refused(
    twigcast: Twigcast, tmp_path: Path, option: str, number: str
) -> None:
    result = twigcast("demo", option, number)
    assert result.exit_code == 2
    assert "1000000" in result.stderr
    assert not list(tmp_path.iterdir())
