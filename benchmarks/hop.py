"""``python -m benchmarks.hop before=/path/to/src after=src``: what a hop costs in two checkouts.

A line of four brokers, subscriptions at each, and documents handed in at one end: a hop is a
document decided at one broker. Each measurement is a fresh process that imports Twigcast from the
given folder, and the folders take turns. Printed are CPU microseconds per hop, median and spread,
and the median of the ratios turn by turn. Exit 1 if the deliveries or crossings differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import median
from time import process_time
from typing import Any, Final

TURNS: Final = 5
BROKERS: Final = ("A", "B", "C", "D")
DOCUMENTS: Final = 60
CASES: Final = tuple(
    (engine, strategy, subscriptions, kind)
    for engine, subscriptions, kind in (
        ("native", 1_000, "paths"),
        ("native", 10_000, "paths"),
        ("native", 100, "libxml2 alone"),
        ("streaming", 1_000, "paths"),
        ("streaming", 100, "paths"),
    )
    for strategy in ("identity", "covering")
)


def main(arguments: Sequence[str]) -> int:
    """Measure, and print a row for each case."""
    if arguments[:1] == ["measure"]:
        print(json.dumps(measured(json.load(sys.stdin))))
        return 0
    folders = dict(each.split("=", 1) for each in arguments)
    first, second = folders
    print(f"| engine | strategy | patterns | hops | {first}, µs | {second}, µs | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for engine, strategy, subscriptions, kind in CASES:
        case = {**workload(subscriptions, kind), "engine": engine, "strategy": strategy}
        turns = [{name: apart(case, folders[name]) for name in folders} for _ in range(TURNS)]
        counts = {tuple(found["counts"]) for turn in turns for found in turn.values()}
        if len(counts) != 1:
            print(f"deliveries and crossings differ: {counts}", file=sys.stderr)
            return 1
        hops = DOCUMENTS + next(iter(counts))[1]
        times = {name: [1e6 * turn[name]["seconds"] / hops for turn in turns] for name in folders}
        ratio = median(a / b for a, b in zip(times[first], times[second], strict=True))
        shown = (f"{median(t):,.0f} ({min(t):,.0f} to {max(t):,.0f})" for t in times.values())
        columns = engine, strategy, f"{subscriptions:,} {kind}", f"{hops:,}", *shown, f"{ratio:.2f}"
        print(f"| {' | '.join(columns)} |", flush=True)
    return 0


def workload(subscriptions: int, kind: str) -> dict[str, Any]:
    """The same subscriptions and documents for both."""
    from twigcast.files.schemas import shipped_schema
    from twigcast.workload import generate_documents, generate_patterns

    schema = shipped_schema("news")
    patterns = list(generate_patterns(schema, rng=Random(1), count=subscriptions))
    if kind != "paths":
        patterns = [f"{xpath}[string-length(normalize-space(.)) mod 2 = 0]" for xpath in patterns]
    return {
        "patterns": patterns,
        "documents": [
            content.decode()
            for content in generate_documents(schema, rng=Random(2), count=2 * DOCUMENTS)
        ],
    }


def apart(case: dict[str, Any], folder: str) -> dict[str, Any]:
    """A measurement in a process of its own, by the Twigcast of a folder."""
    path = os.pathsep.join((folder, os.environ.get("PYTHONPATH", "")))
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.hop", "measure"],
        input=json.dumps(case),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def measured(case: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds of the second half of the documents, and deliveries and crossings of it."""
    from twigcast.routing import Network

    links = [list(pair) for pair in pairwise(BROKERS)]
    network = Network({"links": links}, case["strategy"], engine=case["engine"])
    with network.batch():
        for number, xpath in enumerate(case["patterns"]):
            network.subscribe(BROKERS[number % len(BROKERS)], "reader", xpath)
    documents = [document.encode() for document in case["documents"]]
    for content in documents[:DOCUMENTS]:
        network.publish(BROKERS[0], content)
    deliveries = crossings = 0
    begun = process_time()
    for content in documents[DOCUMENTS:]:
        outcome = network.publish(BROKERS[0], content)
        deliveries += len(outcome.deliveries)
        crossings += len(outcome.crossings)
    return {"seconds": process_time() - begun, "counts": [deliveries, crossings]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
