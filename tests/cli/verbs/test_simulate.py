"""``twigcast simulate``: options beside the output, tables, objects, pictures, exit codes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

SCENARIO = """
strategy = "covering"
[topology]
links = [{ between = ["north", "south"], latency_ms = 20 }, ["south", "west"]]
[workload]
subscriptions_file = "subs.csv"
documents_from = "feed"
publishers_at = "north"
"""
ROWS = "id,subscriber,broker,xpath\n1,ann,south,//b\n2,ben,north,/a\n3,eve,west,//zzz\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a scenario and what it names."""
    (tmp_path / "t.toml").write_text(SCENARIO)
    (tmp_path / "subs.csv").write_text(ROWS)
    (tmp_path / "feed").mkdir()
    for number in range(2):
        (tmp_path / "feed" / f"d{number}.xml").write_text("<a><b/></a>")
    return tmp_path


@pytest.mark.usefixtures("place")
def test_figures_are_told_of_the_network_its_links_and_its_brokers(twigcast: Twigcast) -> None:
    result = twigcast("simulate", "t.toml", "--details")
    assert result.exit_code == 0
    whole, links, brokers = result.stdout.split("\n\n")
    figures = dict(line.split("  ", 1) for line in whole.splitlines())
    figures = {name: value.strip() for name, value in figures.items()}
    assert figures["strategy"] == "covering"
    assert figures["deliveries"] == "4 (0 missed, 0 unexpected, 0 repeated)"
    assert figures["crossings"] == "2 (0.0 % needless, 0 more flooded)"
    assert figures["messages"].startswith("6 subscribe, 2 publish")
    assert figures["network usage"] == "21.000 ms per subscription, 20.000 ms per document"
    assert links.splitlines()[0].split()[:3] == ["from", "to", "documents"]
    assert [line.split()[:4] for line in links.splitlines()[1:2]] == [["north", "south", "2", "0"]]
    assert {line.split()[0] for line in brokers.splitlines()[1:]} == {"north", "south", "west"}


@pytest.mark.usefixtures("place")
def test_all_options_are_said_first_and_repeat_the_run(twigcast: Twigcast, place: Path) -> None:
    first = twigcast("simulate", "t.toml", "--seed", "9", "--details")
    options, _, drawn = first.stderr.partition("\n# brokers: 3\n")
    assert tomllib.loads(options)["run"]["seed"] == 9
    assert "# publishers: publisher 1 at north" in drawn
    (place / "again.toml").write_text(options)
    assert twigcast("simulate", "again.toml", "--details").stdout == first.stdout


def test_a_scenario_fits_on_a_screen_unless_details_are_asked_for(twigcast: Twigcast) -> None:
    newsroom = str(Path(__file__).parents[3] / "examples" / "newsroom.toml")
    for more in ((), ("--strategy", "flooding", "--strategy", "covering", "--strategy", "prefix")):
        result = twigcast("simulate", newsroom, *more)
        lines = (result.stdout + result.stderr).splitlines()
        assert len(lines) < 24
        assert max(map(len, lines)) <= 80
        assert lines[-1].endswith("; --details has options, links and brokers")
    assert len(twigcast("simulate", newsroom, "--details").output.splitlines()) > 100


@pytest.mark.usefixtures("place")
def test_several_strategies_make_one_table(twigcast: Twigcast) -> None:
    chosen = ("--strategy", "flooding", "--strategy", "prefix(depth=1)")
    result = twigcast("simulate", "t.toml", *chosen)
    header, flooding, prefix = result.stdout.splitlines()
    assert header.split()[:5] == ["strategy", "deliveries", "missed", "crossings", "needless"]
    assert flooding.split()[:5] == ["flooding", "4", "0", "4", "2"]
    assert prefix.split()[0] == "prefix(depth=1)"


@pytest.mark.usefixtures("place")
def test_json_has_an_object_for_each_strategy_and_nothing_beside(twigcast: Twigcast) -> None:
    result = twigcast(
        "simulate", "t.toml", "--strategy", "flooding", "--strategy", "best", "--json"
    )
    flooding, best = map(json.loads, result.stdout.splitlines())
    assert (flooding["strategy"], best["strategy"]) == ("flooding", "best")
    assert flooding["deliveries"] == best["deliveries"] == 4
    assert flooding["options"]["strategy"] == "flooding"
    assert best["drawn"]["publishers"] == {"publisher 1": "north"}
    (link,) = (each for each in best["links"] if (each["from"], each["to"]) == ("north", "south"))
    assert (link["crossings"], link["traffic"]["publish"]) == (2, 2)
    assert [each["broker"] for each in best["brokers"]] == ["north", "south", "west"]
    assert result.stderr == ""


@pytest.mark.usefixtures("place")
def test_what_annotations_did_is_told_where_there_are_any(twigcast: Twigcast) -> None:
    annotated = ("--strategy", "piggyback(on=identity, annotations=-s)")
    stdout = twigcast("simulate", "t.toml", *annotated).stdout
    told = dict(line.split("  ", 1) for line in stdout.partition("\n\n")[0].splitlines())
    assert told["annotations"].strip().endswith("bytes with 2 documents, 0 ignored")
    assert told["patterns skipped"].strip() == "4"
    assert told["before reading"].strip() == "0 documents sent on, 2 not read at all"
    both = twigcast("simulate", "t.toml", *annotated, "--strategy", "covering", "--details").stdout
    header, first, second = both.splitlines()
    assert header.endswith("annotations kB  skipped  sent unread")
    assert first.split()[-2:] == ["4", "0"]
    assert len(second) < len(first)
    (row,) = twigcast("simulate", "t.toml", *annotated, "--json").stdout.splitlines()
    assert json.loads(row)["carried"]["documents"] == 2
    (row,) = twigcast("simulate", "t.toml", "--json").stdout.splitlines()
    assert "carried" not in json.loads(row)


@pytest.mark.usefixtures("place")
def test_the_network_is_drawn(twigcast: Twigcast, place: Path) -> None:
    result = twigcast("simulate", "t.toml", "--draw", "net.svg")
    assert "the network is drawn in net.svg\n" in result.stderr
    assert etree.parse(place / "net.svg").getroot().tag.endswith("svg")
    both = ("--strategy", "flooding", "--strategy", "prefix(depth=1)")
    assert twigcast("simulate", "t.toml", *both, "--draw", "two.svg").exit_code == 0
    assert sorted(path.name for path in place.glob("two*")) == [
        "two-flooding.svg",
        "two-prefix-depth-1.svg",
    ]


def test_what_is_refused_is_named_and_the_rest_is_told(twigcast: Twigcast, place: Path) -> None:
    (place / "feed" / "d2.xml").write_text("<a>")
    result = twigcast("simulate", "t.toml")
    assert result.exit_code == 1
    assert "deliveries       4 (" in result.stdout
    (said,) = (line for line in result.stderr.splitlines() if line.startswith("twigcast: "))
    assert said.startswith("twigcast: covering: north at 2.")
    assert "refused Publish: " in said
    assert "Premature end" in said


def test_a_run_that_is_stopped_says_where(twigcast: Twigcast, place: Path) -> None:
    with (place / "t.toml").open("a") as file:
        file.write("[run]\nevents_max = 20\n")
    result = twigcast("simulate", "t.toml", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["stopped"] == "20 events (events_max)"
    assert "stopped after 20 events (events_max); the figures end there" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("no.toml",), "cannot read the scenario no.toml"),
        (("t.toml", "--strategy", "x"), "no strategy 'x'; there are flooding"),
        (("t.toml", "--draw", "net.png"), "--draw writes SVG; let the name of net.png end in .svg"),
        (("t.toml", "--seed", "-1"), "--seed"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_done_is_a_matter_of_usage(
    twigcast: Twigcast, words: tuple[str, ...], said: str
) -> None:
    result = twigcast("simulate", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.parametrize("name", ["newsroom.toml", "wide_area.toml"])
def test_the_scenarios_among_the_examples_are_short_and_run(twigcast: Twigcast, name: str) -> None:
    path = ROOT / "examples" / name
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
    result = twigcast("simulate", str(path), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["deliveries"] > 0


@pytest.mark.parametrize("strategy", ["advertised", "covering(towards=producers)"])
def test_documents_that_nobody_has_advertised_are_told_of_on_one_line(
    twigcast: Twigcast, place: Path, strategy: str
) -> None:
    (place / "open.toml").write_text(SCENARIO + "advertise = false\n")
    told = twigcast("simulate", "open.toml", "--strategy", strategy, "--strategy", "best", "--json")
    (line,) = told.stderr.splitlines()
    assert line.startswith(
        f"publisher 1 at north has advertised nothing, so under {strategy} its documents go over "
        "every link; set advertise = true in [workload]"
    )
    assert "strategy best" in line
    for scenario, chosen in (("t.toml", strategy), ("open.toml", "best")):
        quiet = twigcast("simulate", scenario, "--strategy", chosen, "--json")
        assert "advertised nothing" not in quiet.stderr
