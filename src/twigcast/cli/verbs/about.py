"""``twigcast about``: versions, the engine in use, what is missing and how to get it.

A part is something Twigcast can use: a row with its version, or with what it is good for and how to
get it. ``doctor`` goes further and tries whether the parts work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from twigcast import __version__
from twigcast.cli.engine_note import slow_engine
from twigcast.cli.options.arguments import AsJson
from twigcast.cli.output import write, write_json
from twigcast.errors import UsageError

EXAMPLES = ("twigcast about", "twigcast about --json")


@dataclass(frozen=True, slots=True)
class Component:
    """Something Twigcast is made of or can use; without a version it is missing."""

    name: str
    version: str | None
    note: str


def about(as_json: AsJson = False) -> None:
    """Versions, the engine in use, and what is missing."""
    for part in parts():
        if as_json:
            write_json(asdict(part))
        else:
            write(f"{part.name:<12}{part.version or 'missing':<12}{part.note}".rstrip())


def parts() -> Iterator[Component]:
    """All parts, the needed ones first."""
    from importlib.metadata import version

    from lxml import etree

    from twigcast.matching import Matcher

    yield Component("twigcast", __version__, f"engine {Matcher().statistics().engine}")
    yield Component("Python", ".".join(map(str, sys.version_info[:3])), sys.executable)
    yield Component("lxml", version("lxml"), "parses documents and decides expressions")
    libxml2 = ".".join(map(str, etree.LIBXML_VERSION))
    yield Component("libxml2", libxml2, "inside lxml: the oracle of what matches")
    yield _kernel()
    yield _package("pyarrow", "match_batch and Spark", extra="spark")
    yield _package("pandas", "Spark", extra="spark")
    yield _package("pyspark", "run and demo", extra="spark")
    yield _java()


def _kernel() -> Component:
    from twigcast.matching.engines.native import version

    found = version()
    if found is None:
        return Component("kernel", None, slow_engine() or "")
    return Component("kernel", found, "the engine native: reads and matches documents")


def _package(name: str, purpose: str, *, extra: str) -> Component:
    # Importing this takes longer than all other verbs' start together.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Component(name, version(name), f"for {purpose}")
    except PackageNotFoundError:
        advice = f"pip install '.[{extra}]' in a checkout of Twigcast"
        return Component(name, None, f"needed for {purpose}: {advice}")


def _java() -> Component:
    from twigcast.spark.session.java import find_java

    try:
        java = find_java()
    except UsageError as error:
        return Component("Java", None, str(error))
    return Component("Java", str(java.version), f"{java.home} ({java.origin})")
