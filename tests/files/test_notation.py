"""TOML and JSON of strangers are read in bounded memory, and what is wrong is one sentence."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.errors import UsageError
from twigcast.files import notation, read_subscriptions, read_topology
from twigcast.files.notation import (
    KEY_PARTS_MAX,
    NESTING_MAX,
    NUMBER_CHARACTERS_MAX,
    TOML_CHARACTERS_MAX,
    _once,
    json_table,
    toml_table,
)
from twigcast.simulator import read_scenario

KEY = ".".join(["a"] * KEY_PARTS_MAX)

HOSTILE_TOML = {
    "a long dotted key": (".".join(["a"] * 20_000) + " = 1", "KEY_PARTS_MAX"),
    "a long table": ("[" + ".".join(["a"] * 20_000) + "]", "KEY_PARTS_MAX"),
    "a long list of tables": ("[[" + ".".join(["a"] * 20_000) + "]]", "KEY_PARTS_MAX"),
    "quoted parts": (" . ".join(['"a"', "'b'"] * 10_000) + " = 1", "KEY_PARTS_MAX"),
    "a key in an inline table": ("x = {" + ".".join(["a"] * 20_000) + " = 1}", "KEY_PARTS_MAX"),
    "a long number": ("seed = " + "9" * 100_000, "NUMBER_CHARACTERS_MAX"),
    "a long number in another base": ("seed = 0x" + "f" * 100_000, "NUMBER_CHARACTERS_MAX"),
    "a long number with a sign": ("seed = -" + "1_0" * 5_000, "NUMBER_CHARACTERS_MAX"),
    "lists in lists": ("x = " + "[" * 10_000 + "]" * 10_000, "too many brackets"),
    "tables in tables": ("x = " + "{a = " * 10_000 + "1" + "}" * 10_000, "too many brackets"),
    "one key twice": ("a = 1\na = 2", "not TOML"),
    "a zero byte": ("a = '\0'", "not TOML"),
    "no end": ('a = """', "not TOML"),
    "a long string": ('x = "' + "a" * 200_000 + '"', "no network|nobody knows"),
    "a long string of escapes": ('x = "' + "\\n" * 200_000 + '"', "no network|nobody knows"),
    "a long block": ('x = """' + 'a""b' * 50_000 + '"""', "no network|nobody knows"),
    "no end of a string": ('x = "' + "a" * 200_000, "not TOML"),
    "no end of many": ('a = """' + '\\"""' * 20_000, "not TOML"),
}


@pytest.mark.parametrize("case", HOSTILE_TOML)
@pytest.mark.parametrize("read", [read_scenario, read_topology], ids=["scenario", "topology"])
def test_hostile_toml_is_one_sentence_and_little_memory(
    case: str, read: object, tmp_path: Path
) -> None:
    assert callable(read)
    text, told = HOSTILE_TOML[case]
    path = tmp_path / "x.toml"
    path.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=told) as caught:
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "x.toml" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert peak < 16 << 20


@pytest.mark.parametrize(
    "text",
    [
        f"{KEY} = 1",
        f"[{KEY}]\n{KEY} = 1.5",
        'x = "' + "a." * 100 + '"',
        "x = '" + "a." * 100 + "'",
        'x = """' + "a.\n" * 100 + '"""',
        "x = '''" + "a.\n[" * 100 + "'''''",
        "# " + "a." * 100,
        "x = [" + "1.5, " * 1_000 + "]",
        "x = " + "[" * NESTING_MAX + "]" * NESTING_MAX,
        "x = " + "9" * NUMBER_CHARACTERS_MAX,
        'x = """a\\"""b""c""""',
        "x = 1979-05-27T07:32:00.999999-07:00",
        'x = "\\"a.b"\ny = "#"',
    ],
)
def test_what_people_write_is_read(text: str) -> None:
    assert isinstance(toml_table(text, "x.toml"), dict)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("".join(f"[a{n}]\n" for n in range(12)), 12),
        ("".join(f"[a{n}.b.c]\n" for n in range(4)), 12),
        ("".join(" [[ 'a' . b . \"c\" ]] # d.e\n" for _ in range(4)), 12),
        ("".join(f"a{n}.b.c = 1.5\n" for n in range(6)), 12),
        ("x = [" + "{a.b = 1.5}, " * 12 + "]", 12),
        ("x = [" + "[1.5, 1979-05-27], " * 20 + "]", 0),
        ("x = [\n" + "[1.5],\n" * 20 + "]", 0),
        ("x = 'a.b'\n[a]\nb = 1.5\n" + "".join(f"c{n} = 'a.b'\n" for n in range(20)), 1),
    ],
)
def test_tables_are_counted_and_bounded(
    text: str, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notation, "TABLES_MAX", tables)
    assert toml_table(text, "x.toml")
    monkeypatch.setattr(notation, "TABLES_MAX", tables - 1)
    with pytest.raises(UsageError, match=r"x\.toml, line \d+: more than -?\d+ tables \(TABLES_MAX"):
        toml_table(text, "x.toml")


def test_a_text_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert toml_table("# " + "a" * (TOML_CHARACTERS_MAX - 2), "x.toml") == {}
    monkeypatch.setattr("tomllib.loads", None)
    with pytest.raises(UsageError, match=r"4,194,304 characters of TOML \(TOML_CHARACTERS_MAX\)"):
        toml_table("#" * (TOML_CHARACTERS_MAX + 1), "x.toml")


@given(st.text(alphabet="ab.=[]{}\"'\\#\n 19_-", max_size=60))
def test_any_text_is_a_table_or_one_sentence(text: str) -> None:
    try:
        toml_table(text, "x.toml")
    except UsageError as error:
        told = str(error)
    else:
        told = "x.toml"
    assert "x.toml" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 200_000, "too many brackets"),
        ('{"a": ' * 200_000, "too many brackets"),
        ("9" * 100_000, "not JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ("", "not JSON"),
        ('"\0"', "not JSON"),
    ],
)
def test_hostile_json_is_one_sentence(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        json_table(text, "x.json")


class _Counting(str):
    """A key that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_key_that_is_there_twice_is_found_among_many_in_one_pass() -> None:
    pairs: list[tuple[str, object]] = [(_Counting(number), 0) for number in range(5_000)]
    with pytest.raises(ValueError, match="the key '0' is there twice"):
        _once([*pairs, (_Counting(0), 1)])
    assert _Counting.compared < 10 * len(pairs)


@pytest.mark.parametrize("name", ["\ud800", "a\nb", "a\x1b[2J", "\u202e"])
def test_a_broker_whose_name_cannot_be_shown_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"brokers": [name]}))
    with pytest.raises(UsageError) as caught:
        read_topology(path)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "1e999", "9" * 400])
def test_a_latency_that_is_no_time_is_refused(number: str, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    link = f'{{"between": ["a", "b"], "latency_ms": {number}}}'
    path.write_text(f'{{"links": [{link}]}}')
    with pytest.raises(UsageError):
        read_topology(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "id": 2, "xpath": "//a"}',
        '{"id": NaN, "xpath": "//a"}',
        '{"id": "\\ud800", "xpath": "//a"}',
        '{"id": 1, "xpath": "\\ud800"}',
        '{"id": 1, "xpath": "//a", "namespaces": {"p": "\\ud800"}}',
        '{"id": ' + "9" * 5_000 + ', "xpath": "//a"}',
        '{"id": ' + "[" * 100_000 + "}",
        "\0",
        "[]",
    ],
)
def test_a_line_of_json_that_is_no_subscription_is_set_aside(line: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line + '\n{"id": 3, "xpath": "//b"}\n')
    file = read_subscriptions(path)
    assert [one.id for one in file.subscriptions] == [3]
    assert [one.line for one in file.rejected] == [1]
    file.rejected[0].xpath.encode()


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_block_that_is_never_closed_is_looked_for_once(quotes: str) -> None:
    # Looked for behind each of the quotes, 2 MB of them would take hours.
    with pytest.raises(UsageError, match="not TOML"):
        toml_table("a = " + f"\\{quotes}x{quotes[0]}" * 300_000, "t")
