"""The tables of the reference pages say what the code says: limits, errors, columns, options, DTDs.

A table is found by its page and the first cell of its header. Cells lose their backticks; a number
is read without its commas.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import typer

import twigcast
from tests.docs.pages import DOCS, blocks_of
from twigcast import errors
from twigcast.cli import output as speaking
from twigcast.cli import program
from twigcast.cli.interrupts import TERMINATED
from twigcast.cli.program import app
from twigcast.files import compile_subscriptions, read_subscriptions
from twigcast.files.schemas import shipped_schema, shipped_schema_names
from twigcast.language import LIVE_LIMITS
from twigcast.workload import PatternShape, Vocabulary, generate_documents, generate_patterns

Row = tuple[str, ...]


def tables_of(page: str) -> Iterator[list[Row]]:
    """The tables of a page, each with its header as the first row."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [_cells(line) for line in block.splitlines()]
        yield [rows[0], *rows[2:]]


def table_of(page: str, first: str, number: int = 0) -> list[Row]:
    """The rows of the table whose header begins with a word; the header itself is left out."""
    return [table for table in tables_of(page) if table[0][0] == first][number][1:]


def _cells(line: str) -> Row:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return tuple(cell.strip().replace("`", "").replace("\\|", "|") for cell in cells)


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


# Limits.


def documented_bounds() -> dict[tuple[str, str], float]:
    """Each bound on the page, by the class or module it belongs to and its name."""
    return {
        (table[0][0], row[0]): _number(row[1])
        for table in tables_of("limits-and-errors.md")
        if table[0][0].startswith("twigcast.")
        for row in table[1:]
    }


def actual_bounds() -> dict[tuple[str, str], float]:
    """Each public bound of the code: fields of ``…Limits``, and constants called ``…_MAX``."""
    found: dict[tuple[str, str], float] = {}
    for listed in pkgutil.walk_packages(twigcast.__path__, "twigcast."):
        module = import_module(listed.name)
        for name, value in vars(module).items():
            if re.fullmatch(r"[A-Z]\w*Limits", name) and value.__module__ == listed.name:
                for field, default in dataclasses.asdict(value()).items():
                    found[f"{listed.name}.{name}", field] = default
            elif _BOUND.fullmatch(name) and isinstance(value, int) and _defines(module, name):
                found[listed.name, name] = value
    return found


_BOUND = re.compile(r"[A-Z]\w*_(?:MAX|MIN|EXEMPT_BYTES)")


def _defines(module: ModuleType, name: str) -> bool:
    """Whether a module itself sets a name, which it might have imported."""
    return re.search(rf"^{name}\b.*=", inspect.getsource(module), re.MULTILINE) is not None


def test_every_bound_is_on_its_page_with_its_default() -> None:
    pytest.importorskip("pyspark")
    assert documented_bounds() == actual_bounds()


def test_the_limits_of_live_documents_are_those_of_the_code() -> None:
    rows = table_of("limits-and-errors.md", "twigcast.language.document.parse.DocumentLimits")
    assert {row[0]: _number(row[2]) for row in rows} == dataclasses.asdict(LIVE_LIMITS)


# Errors and exit codes.

_MADE: Mapping[str, Mapping[str, object]] = {
    "PatternError": {"text": "", "column": 1, "expected": ""},
    "DocumentError": {"reason": ""},
    "SchemaError": {"reason": ""},
    "ProtocolError": {"reason": ""},
    "PatternLimitError": {"text": "", "column": 1, "limit": "", "given": 2, "allowed": 1},
    "DocumentLimitError": {"what": "", "limit": "", "given": 2, "allowed": 1},
    "SchemaLimitError": {"what": "", "limit": "", "given": 2, "allowed": 1},
    "ProtocolLimitError": {"what": "", "limit": "", "given": 2, "allowed": 1},
}
"""What the constructors of the errors with fields need."""

_WITHOUT_FIELDS = {"FloodingWarning", "TwigcastError", "UsageError"}
_WITH_FIELDS = [name for name in errors.__all__ if name not in _WITHOUT_FIELDS]


def test_every_error_is_on_its_page_with_its_parents() -> None:
    told = {row[0]: row[1] for row in table_of("limits-and-errors.md", "class")}
    parents = {
        name: ", ".join(base.__name__ for base in getattr(errors, name).__bases__)
        for name in errors.__all__
    }
    assert told == parents
    assert set(told) <= set(twigcast.__all__)


def test_the_fields_of_every_error_are_on_its_page() -> None:
    told = {row[0]: row[2].split(", ") for row in table_of("limits-and-errors.md", "class")}
    for name, made_of in _MADE.items():
        kind: type[twigcast.TwigcastError] = getattr(errors, name)
        fields = told[name]
        if fields == ["those of both"]:
            fields = [field for base in kind.__bases__ for field in told[base.__name__]]
        assert vars(kind(**made_of)).keys() == set(fields), name
    assert sorted(name for name, fields in told.items() if fields != [""]) == _WITH_FIELDS


def test_the_exit_codes_are_those_of_the_program() -> None:
    told = [int(row[0]) for row in table_of("limits-and-errors.md", "code")]
    codes = [0, speaking.REFUSED, speaking.USAGE, 130, program._READER_GONE, TERMINATED]
    assert told == codes


# Columns of the tables on Spark.


@pytest.mark.parametrize("number", range(6))
def test_every_column_is_on_its_page_with_its_type_and_meaning(number: int) -> None:
    pytest.importorskip("pyspark")
    from twigcast.spark.storage.tables import TABLES

    name, schema = list(TABLES.items())[number]
    assert [row[0] for row in table_of("spark.md", "column", number)] == schema.names, name
    assert table_of("spark.md", "column", number) == [
        (field.name, field.dataType.simpleString(), field.metadata["comment"].replace("`", ""))
        for field in schema.fields
    ]
    assert len(TABLES) == 6


# Expressions.


def test_kinds_and_canonical_texts_are_as_told() -> None:
    header = ("written", "kind", "canonical text", "necessary condition")
    (rows,) = (table[1:] for table in tables_of("subscriptions.md") if table[0] == header)
    for written, kind, canonical, necessary in rows:
        pattern = twigcast.Pattern.parse(written)
        assert (pattern.exact, pattern.text) == (kind == "exact", canonical), written
        assert pattern.necessary.text == (necessary or canonical), written


def test_each_rewrite_of_later_xpath_is_the_hint_that_is_given() -> None:
    rows = table_of("subscriptions.md", "XPath 2.0 and later")
    assert len(rows) > 10
    for written, rewritten in rows:
        with pytest.raises(twigcast.PatternError) as caught:
            twigcast.Pattern.parse(written)
        assert caught.value.hint == f"write {rewritten}"


def test_values_compare_as_told() -> None:
    for xpath, document, answer in table_of("subscriptions.md", "expression"):
        found = twigcast.explain(xpath, document.encode()).matches
        assert {"match": True, "no match": False}[answer] is found, (xpath, document)


@pytest.mark.parametrize("feed", ["nitf", "newsml", "iso20022", "siri", "jats"])
def test_every_recipe_matches_a_real_document(
    feed: str, shared_path: Callable[[str], Path], tmp_path: Path
) -> None:
    documents = sorted(shared_path(f"data/docs/{feed}").glob("*.xml"))
    blocks = {block.file: block.text for block in blocks_of(DOCS / "subscriptions.md")}
    (tmp_path / "recipes.txt").write_text(blocks[f"{feed}.txt"], encoding="utf-8")
    matcher = twigcast.Matcher()
    recipes = read_subscriptions(tmp_path / "recipes.txt")
    assert not compile_subscriptions(recipes, matcher.add)
    matching = {found for path in documents for found in matcher.match(path.read_bytes())}
    silent = [one for place, one in enumerate(recipes.subscriptions) if place not in matching]
    assert not silent


# Workloads.


def test_the_dtds_are_as_told() -> None:
    rows = table_of("workloads.md", "name")
    assert tuple(row[0] for row in rows) == shipped_schema_names()
    for name, root, *counts, _ in rows:
        schema = shipped_schema(name)
        attributes = sum(len(element.attributes) for element in schema.declarations)
        told = [len(schema.elements), attributes, len(schema.recursive)]
        assert (schema.root, told) == (root, list(map(int, counts))), name


@pytest.mark.parametrize(
    ("number", "verb", "generate"),
    [(0, "patterns", generate_patterns), (1, "documents", generate_documents)],
)
def test_the_options_of_the_generators_are_as_told(
    number: int, verb: str, generate: Callable[..., object]
) -> None:
    arguments = dict(inspect.signature(generate).parameters)
    if arguments.pop("shape", None) is not None:
        arguments |= inspect.signature(PatternShape).parameters
    rows = table_of("workloads.md", "option", number)
    assert {row[1] for row in rows} == arguments.keys() - {"schema"}
    command = typer.main.get_command(app).commands["generate"].commands[verb]  # type: ignore[attr-defined]
    options = {name: option for option in command.params for name in option.opts}
    for option, argument, default, _ in rows:
        assert default == _told(options[option].default), option
        if arguments[argument].default is not inspect.Parameter.empty and argument != "vocabulary":
            assert default == _told(arguments[argument].default), argument
    assert {row[0]: row[2] for row in rows}["--numbers"] == str(Vocabulary().numbers)


def _told(default: object) -> str:
    """A default as a table tells it."""
    match default:
        case None:
            return ""
        case bool():
            return str(default)
        case int() | float():
            return f"{default:,}".removesuffix(".0")
        case [only] | (only,):
            return str(only)
        case _:
            raise AssertionError(default)


# Commands that are shown and not run.


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_commands_that_are_not_run_are_understood(page: Path) -> None:
    verbs = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = [block.text for block in blocks_of(page) if block.language == "sh"]
    for line in "".join(shown).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["twigcast"]:
            assert verbs[words[1]].make_context(words[1], words[2:]).params, line
