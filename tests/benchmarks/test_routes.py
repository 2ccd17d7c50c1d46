"""The kind about routes, on networks as small as can be."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import routes
from benchmarks.definitions import DEFINITIONS
from benchmarks.report import table

TEXTS = ("/a/b", "//b", "/a/b/c", "/d", "/a", "//*/b", "/d/e", "/a/x", "//x", "/d[@y]", "/d/@y")
SAMPLE = 7


def test_subscriptions_are_dealt_out_to_a_binary_tree() -> None:
    tree = routes.binary_tree(5)
    assert tree.neighbours("b2") == ("b1", "b4", "b5")
    dealt = routes.own(tree, TEXTS[:6])
    assert dealt.column("broker").to_pylist() == ["b1", "b2", "b3", "b4", "b5", "b1"]
    assert dealt.column("pattern").to_pylist() == list(TEXTS[:6])


def test_sweeps_and_routers_find_the_same_routes() -> None:
    tree = routes.binary_tree(5)
    ours, naive = (
        routes.in_process(tree, TEXTS, engine, sample=SAMPLE)
        for engine in (routes.SWEEPS, routes.ROUTERS)
    )
    assert ours.counts == naive.counts
    assert ours.digests == naive.digests
    assert ours.counts["routes, sample"] > 0


def test_a_table_says_how_many_patterns_are_different_and_covered() -> None:
    (whole,) = (each for each in DEFINITIONS if each.name == "news-routes-mixed-10k")
    definition = replace(whole, engines=(routes.SWEEPS,))
    run = routes.in_process(routes.binary_tree(3), TEXTS, routes.SWEEPS, sample=SAMPLE)
    counted = {"distinct": 11, "covered": 8}
    told = replace(run, figures={**run.figures, **counted})
    assert "different patterns | of these, others cover" in table(definition, [told])
