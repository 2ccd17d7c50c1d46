"""What a result says of itself is fit for a terminal, whatever strangers have written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from twigcast import Document, Matcher, explain
from twigcast.files import Subscription, SubscriptionFile
from twigcast.routing import Network, Strategy, Topology
from twigcast.routing.in_memory.outcome import Outcome
from twigcast.spark.result import Run

MARKS = "\x1b[2J\n\x7f\x85\u2028\u202e\t"
IN_XML = "\x7f\x85\u2028\u202e"
DOCUMENT = (
    f"<a\u200d x\u200d='{IN_XML}'><b>t{IN_XML}</b><c>{IN_XML}</c></a\u200d>".encode()
)  # A name may hold what joins letters, and is not seen.


def results() -> Iterator[tuple[str, object]]:
    """Results, and whether each is one line."""
    rules = {
        MARKS: f"//b[contains(., '{IN_XML}')] or //c",
        "b" + MARKS: "//@*",
        "c": "/*",
        "d": f"concat('{IN_XML}', string(//b))",
        "e": "//b = //c or //b | //@*",
    }
    found = Matcher(rules).find(DOCUMENT)
    assert len(found) == len(rules)
    yield "findings", found
    for one in found.values():
        yield "finding", one
        for part in (one, *one.parts):
            for node in part.nodes:
                yield "node", node
    undecided = Matcher({MARKS: "//b[contains(., //c[contains(., 'x')])]"}, document_cost_max=0)
    yield "undecided findings", undecided.find(DOCUMENT)
    for xpath in (
        *rules.values(),
        f"//b[. = '{IN_XML}\n']",
        f"/*/d[@x='{IN_XML}']",
        "//*[1]/@*",
        "/b",
    ):
        yield "explanation", explain(xpath, DOCUMENT)
    names = "a", "b"
    network = Network({"links": [list(names)]}, "covering")
    network.subscribe(names[0], MARKS, "//b")
    yield "network", network
    yield "traffic", network.traffic
    yield "outcome", network.publish(names[1], DOCUMENT)
    yield "refusal", Outcome(MARKS, (), (), refused=MARKS)
    yield "strategy", Strategy(MARKS, "everything")
    yield "topology", Topology.of({"links": [list(names)]})
    yield "document", Document.parse(DOCUMENT, name=MARKS)
    yield "decision", Matcher({MARKS: "//b"}).decide(DOCUMENT)
    yield "file", SubscriptionFile((Subscription(MARKS, "//b", line=1),))
    numbers: dict[str, Any] = {each.name: 1 for each in fields(Run)}
    yield "run", Run(**numbers | {"out": MARKS})


RESULTS = pytest.mark.parametrize(
    ("what", "result"), [pytest.param(*one, id=f"{n}-{one[0]}") for n, one in enumerate(results())]
)


@RESULTS
def test_what_a_result_says_can_be_printed(what: str, result: object) -> None:
    lines = str(result).split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert repr(result).isprintable()
    if what == "findings":
        assert sum(not line.startswith(" ") for line in lines) == 5
