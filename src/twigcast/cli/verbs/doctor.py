"""``twigcast doctor``: whether everything is here that Twigcast needs, and works.

Each check is a function that returns what it found or raises an error with what to do. A check of
something optional that is not installed is left out, with a note on how to get it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from twigcast.cli.engine_note import slow_engine
from twigcast.cli.options.arguments import AsJson
from twigcast.cli.output import REFUSED, write, write_json
from twigcast.cli.progress import Bar
from twigcast.errors import TwigcastError, UsageError

EXAMPLES = ("twigcast doctor", "twigcast doctor --spark")

PYTHON_MIN: Final = (3, 11)
FREE_BYTES_MIN: Final = 1 << 30
"""Spark and the demo write some hundred MB; a disk that full is trouble in any case."""


@dataclass(frozen=True, slots=True)
class Check:
    """A question, and a function that answers it or raises why not."""

    name: str
    ask: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Skipped(Exception):  # noqa: N818 (it is none)
    """A check was left out; says why, and how to have it."""

    reason: str


def doctor(
    spark: Annotated[
        bool,
        typer.Option("--spark", help="Also start Spark (takes some seconds).", show_default=False),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the set-up.

    Prints a line per check: ok, FAILED or skipped. The exit code is 1 if something needed fails.
    """
    failed = False
    for check in _checks(spark=spark):
        result, finding = _result_of(check)
        failed = failed or result == "FAILED"
        if as_json:
            write_json({"check": check.name, "result": result, "finding": finding})
        else:
            write(f"{result:<8}  {check.name:<14}  {finding}")
    if failed:
        raise typer.Exit(REFUSED)


def _checks(*, spark: bool) -> tuple[Check, ...]:
    return (
        Check("Python", _python),
        Check("lxml", _lxml),
        Check("kernel", _kernel),
        Check("a match", _match),
        Check("disk space", _disk),
        Check("packages", lambda: _packages(needed=spark)),
        Check("Java", lambda: _java(needed=spark)),
        Check("Spark", _spark if spark else _spark_skipped),
    )


def _result_of(check: Check) -> tuple[str, str]:
    """The result of a check (``ok``, ``FAILED`` or ``skipped``), and the finding as a sentence."""
    try:
        return "ok", check.ask()
    except Skipped as skipped:
        return "skipped", skipped.reason
    except (TwigcastError, ImportError, OSError) as error:
        return "FAILED", str(error)


def _python() -> str:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < PYTHON_MIN:
        raise UsageError(f"{found} is too old: Twigcast needs 3.11 or newer")
    return f"{found} at {sys.executable}"


def _lxml() -> str:
    from lxml import etree

    lxml, libxml2 = (
        ".".join(map(str, numbers)) for numbers in (etree.LXML_VERSION[:3], etree.LIBXML_VERSION)
    )
    return f"{lxml} with libxml2 {libxml2}"


def _kernel() -> str:
    """Whether the kernel is there, and decides a match that needs nobody else."""
    from twigcast.matching import Matcher
    from twigcast.matching.engines.native import version

    found = version()
    if found is None:
        raise Skipped(f"not installed: {slow_engine()}")
    matcher = Matcher(engine="native")
    matcher.add(1, "/shop/item[price > 10]/@id")
    matcher.add(2, "//item[not(price)]")
    matches = matcher.match(b"<shop><item id='7'><price>12</price></item></shop>")
    if matches != [1]:
        raise UsageError(f"a tiny match gave {matches}, not [1]: please report this")
    return f"version {found}"


def _match() -> str:
    """A match that needs the parser, the prefilter and libxml2's XPath."""
    from twigcast.matching import Matcher

    matcher = Matcher()
    expressions = ("//price[. > 10]", "/shop/item[2]", "//price[. > 20]", "//offer")
    for number, xpath in enumerate(expressions, start=1):
        matcher.add(number, xpath)
    document = b"<shop><item/><item><price>12</price></item></shop>"
    matches = matcher.match(document)
    if matches != [1, 2]:
        raise UsageError(f"a tiny match gave {matches}, not [1, 2]: please report this")
    return f"right, with the engine {matcher.statistics().engine}"


def _disk() -> str:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    free_space = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < FREE_BYTES_MIN:
        raise UsageError(
            f"only {free_space}: make room, or set TMPDIR to a folder on a larger disk"
        )
    return free_space


def _packages(*, needed: bool) -> str:
    """Whether the packages of the extra ``spark`` are there."""
    missing = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if not missing:
        from importlib.metadata import version

        return f"pyspark {version('pyspark')}, pyarrow {version('pyarrow')}"
    advice = (
        f"{', '.join(missing)} not installed; run and demo need the extra spark: "
        "pip install '.[spark]' in a checkout of Twigcast"
    )
    raise UsageError(advice) if needed else Skipped(advice)


def _java(*, needed: bool) -> str:
    if not needed and find_spec("pyspark") is None:
        raise Skipped("only Spark needs it")
    from twigcast.spark.session.java import find_java

    java = find_java()
    return f"version {java.version} at {java.home} ({java.origin})"


def _spark_skipped() -> str:
    raise Skipped("not tried; twigcast doctor --spark starts it")


def _spark() -> str:
    """Start Spark and let a Python worker match something."""
    from twigcast.spark import matches, start_session

    with Bar() as bar:
        bar.show("starting Spark", 0, None)
        session = start_session(quick=True)
        frame = session.createDataFrame([("<a><b/></a>",)], ["content"])
        (row,) = frame.select(matches("content", ["//b", "//c"]).alias("ids")).collect()
    if row["ids"] != ["1"]:
        raise UsageError(f"a tiny match on Spark gave {row['ids']}, not ['1']: please report this")
    return f"version {session.version} starts, and its Python workers match"
