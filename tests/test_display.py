"""How values show themselves: in a line that tells something, and as tables in notebooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import twigcast
from tests.engines import EVERY_ENGINE
from twigcast.display import HTML_ROWS_MAX, html_table
from twigcast.matching import Decision
from twigcast.routing import Network
from twigcast.routing.in_memory.traffic import KINDS

HOSTILE = "<script>alert('&')</script>"


def network(names: tuple[str, str] = ("north", "south")) -> Network:
    made = Network({"links": [list(names)]}, "covering")
    made.subscribe(names[1], HOSTILE, "//a[. = '<b>'] | //c")
    made.advertise(names[0], b"<!ELEMENT a (#PCDATA)>")
    return made


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_a_matcher_tells_what_it_holds(engine: str) -> None:
    matcher = twigcast.Matcher({"a": "//a", "b": "//a", 3: "//b"}, engine=engine)
    shown = repr(matcher)
    start = f"<Matcher: 3 subscriptions, 2 distinct patterns, engine {engine}"
    memory = r", [\d,.]+ (bytes|KB|MB)" if engine == "native" else ""
    assert re.fullmatch(re.escape(start) + memory + ">", shown)
    assert repr(twigcast.Matcher(["//a"], engine=engine)).startswith(
        "<Matcher: 1 subscription, 1 distinct pattern, "
    )


def test_a_network_tells_what_it_holds() -> None:
    assert repr(network()) == (
        "<Network: 2 brokers, 1 link, 1 subscription, 1 advertisement, strategy covering>"
    )


def test_traffic_tells_what_has_crossed() -> None:
    assert repr(network().traffic).endswith(" directions: 1 subscribe>")
    idle = Network({"brokers": ["a"]}).traffic
    assert repr(idle) == "<Traffic: 0 messages in 0 directions: none>"


def test_an_outcome_tells_what_became_of_a_document() -> None:
    made = network()
    outcome = made.publish("north", b"<c/>")
    assert repr(outcome) == "<Outcome: p1, 1 delivery, 1 crossing>"
    assert HOSTILE not in outcome._repr_html_()
    assert "&lt;script&gt;" in outcome._repr_html_()


def test_other_values_tell_what_they_hold() -> None:
    index = twigcast.CoverIndex()
    index.add(1, "//a")
    assert repr(index).startswith("<CoverIndex: 1 id, 1 pattern, engine ")
    schema = twigcast.Schema.parse(b"<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA)>")
    assert repr(schema) == "<Schema: 2 elements, root list>"
    assert repr(twigcast.Advertisement.of_schema(schema)) == "<Advertisement: 3 states, 2 elements>"
    groups = twigcast.Matcher(["//a"]).groups({"n": [1, 2], "s": [3]})
    assert repr(groups) == "<Groups: 2 groups, 3 ids>"


def test_a_decision_with_many_ids_stays_short() -> None:
    assert repr(Decision((1, "a"))) == "Decision(matches=(1, 'a'), undecided=())"
    assert len(repr(Decision(tuple(range(100_000)), tuple(range(100_000))))) < 200


def test_a_file_of_subscriptions_tells_how_many(tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text(f'id,xpath\n"{HOSTILE}",//a\n,//b\n')
    file = twigcast.read_subscriptions(path)
    assert repr(file) == "<SubscriptionFile: 1 subscription, 1 rejected>"
    assert "<script>" not in file._repr_html_()


def test_tables_of_a_network_are_escaped() -> None:
    made = network((HOSTILE, "south"))
    made.publish(HOSTILE, b"<c/>")
    shown = made.traffic._repr_html_()
    assert shown.count("<th>") == 3 + len(KINDS)
    for table in (made.tables("south"), made.tables(HOSTILE), made.statistics("south")):
        shown += table._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown


def test_statistics_and_explanations_are_tables() -> None:
    matcher = twigcast.Matcher({"a": "//a"})
    matcher.match("<a/>")
    assert "<td>documents</td><td>1</td>" in matcher.statistics()._repr_html_()
    shown = twigcast.explain("//a[. = '<b>']", "<a>x</a>")._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_a_table_has_a_bounded_size_and_says_what_is_missing() -> None:
    shown = html_table(("a", "b"), [(number, "x" * 10_000) for number in range(1_000)])
    assert shown.count("<tr>") == 1 + HTML_ROWS_MAX + 1
    assert f"{1_000 - HTML_ROWS_MAX} more" in shown
    assert len(shown) < 100_000


def test_a_cell_of_a_table_shows_control_characters_spelled_out() -> None:
    table = html_table(["name"], [["e\x1b[2J\n\u202e<b>"]])
    assert "e\\x1b[2J\\n\\u202e&lt;b&gt;" in table
