"""``twigcast advertise``: path expressions from DTDs and documents, and what is said beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

ORDER = """
<!ELEMENT order (item+, note?)>
<!ATTLIST order state (open | paid) #REQUIRED>
<!ELEMENT item (#PCDATA | item)*>
<!ELEMENT note (#PCDATA)>
"""


@pytest.fixture
def order(tmp_path: Path) -> str:
    (tmp_path / "order.dtd").write_text(ORDER)
    return "order.dtd"


def test_a_dtd_is_shown_as_path_expressions(twigcast: Twigcast, order: str) -> None:
    result = twigcast("advertise", order)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "/order/@state",
        "/order(item)+/text()",
        "/order/note/text()",
    ]
    assert result.stderr == "3 path expressions: 2 non-recursive, 1 simple-recursive\n"


def test_elements_alone_can_be_asked_for(twigcast: Twigcast, order: str) -> None:
    result = twigcast("advertise", order, "--elements")
    assert result.stdout.splitlines() == ["/order(item)+", "/order/note"]


def test_what_is_left_out_is_said(twigcast: Twigcast, order: str) -> None:
    result = twigcast("advertise", order, "--limit", "2")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2
    assert "left out: there are more than 2 path expressions" in result.stderr


def test_json_has_an_object_for_each_expression_and_one_for_the_rest(
    twigcast: Twigcast, order: str
) -> None:
    result = twigcast("advertise", order, "--limit", "2", "--json")
    first, second, rest = map(json.loads, result.stdout.splitlines())
    assert first == {"expression": "/order/@state", "form": "non-recursive"}
    assert second["form"] == "simple-recursive"
    assert rest == {"left_out": ["there are more than 2 path expressions; the shortest are shown"]}


def test_a_dtd_that_comes_along_is_known_by_its_name(twigcast: Twigcast) -> None:
    result = twigcast("advertise", "transit", "--elements")
    assert result.exit_code == 0
    assert all(line.startswith("/transit") for line in result.stdout.splitlines())


def test_the_root_can_be_chosen(twigcast: Twigcast, order: str) -> None:
    result = twigcast("advertise", order, "--root", "item", "--root", "note")
    assert result.stdout.splitlines() == ["/(item)+/text()", "/note/text()"]


def test_a_dtd_without_a_single_root_is_pointed_out(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "two.dtd").write_text("<!ELEMENT a EMPTY><!ELEMENT b EMPTY>")
    result = twigcast("advertise", "two.dtd")
    assert result.stdout.splitlines() == ["/a", "/b"]
    assert "no single root: any of 2 elements may be; --root chooses" in result.stderr


def test_the_automaton_can_be_seen(twigcast: Twigcast, order: str) -> None:
    result = twigcast("advertise", order, "--automaton")
    assert result.stdout.splitlines() == [
        "0: order=1",
        '1: space() @state("open"|"paid") item=2 note=3',
        "2: text() item=2",
        "3: text()",
    ]
    assert result.stderr == "4 states, 4 edges, recursive\n"
    told = json.loads(twigcast("advertise", order, "--automaton", "--json").stdout)
    assert (told["states"], told["recursive"], len(told["automaton"])) == (4, True, 4)


def test_documents_are_enough(twigcast: Twigcast, shop: Path) -> None:
    (shop / "broken.xml").unlink()
    result = twigcast("advertise", "--from-documents", "good.xml", ".")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["/shop/item/price/text()"]


@pytest.mark.usefixtures("shop")
def test_documents_that_cannot_be_read_are_named_and_the_others_taken(twigcast: Twigcast) -> None:
    result = twigcast("advertise", "--from-documents", "good.xml", "broken.xml", "nowhere.xml")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["/shop/item/price/text()"]
    assert "twigcast: broken.xml: line 2" in result.stderr
    assert "twigcast: nowhere.xml: " in result.stderr
    alone = twigcast("advertise", "--from-documents", "broken.xml")
    assert (alone.exit_code, alone.stdout) == (1, "")


@pytest.mark.usefixtures("shop")
def test_subscriptions_that_can_never_be_satisfied_are_told(twigcast: Twigcast) -> None:
    words = ("advertise", "--from-documents", "good.xml", "--overlaps")
    result = twigcast(*words, "subs.txt")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["1\t1", "3\t1", "4\t?", "5\t1"]
    assert "subs.txt, line 4: pattern '//a[', column 5" in result.stderr
    assert "3 subscriptions can match, 0 cannot" in result.stderr
    lines = twigcast(*words, "subs.csv", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "b", "line": 2, "overlaps": True},
        {"id": "a", "line": 3, "overlaps": True},
        {"id": "ns", "line": 4, "overlaps": False},
    ]


BAD = {
    "does not parse": ("<!ELEMENT a (b", "bad.dtd, line 1"),
    "recursion without end": ("<!ELEMENT a (b)><!ELEMENT b (a)>", "no document can begin with a"),
    "entity loop": ("<!ENTITY % x '%y;'><!ENTITY % y '%x;'>%x;", "bad.dtd"),
    "laughter": (
        "<!ENTITY % a0 'x'>"
        + "".join(f"<!ENTITY % a{n + 1} '{f'%a{n};' * 10}'>" for n in range(12))
        + "<!ELEMENT a (%a12;)>",
        "bad.dtd",
    ),
    "too large": (
        "".join(f"<!ELEMENT e{n} ANY>" for n in range(1_500)),
        "the advertisement has too many edges: 1,000,",
    ),
    "nothing declared": ("", "no document can begin"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_dtd_is_one_sentence(twigcast: Twigcast, tmp_path: Path, what: str) -> None:
    dtd, told = BAD[what]
    (tmp_path / "bad.dtd").write_text(dtd)
    result = twigcast("advertise", "bad.dtd")
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    complaints = [line for line in result.stderr.splitlines() if line.startswith("twigcast: ")]
    assert len(complaints) == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nowhere.dtd",),
        ("news", "parts"),
        ("news", "--root", "nowhere"),
        ("news", "--limit", "0"),
        ("news", "--overlaps", "nowhere.txt"),
        ("--from-documents", "empty/"),
        ("--from-documents", "empty/", "--root", "a"),
    ],
    ids=" ".join,
)
def test_wrong_words_are_a_matter_of_usage(
    twigcast: Twigcast, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    result = twigcast("advertise", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr
