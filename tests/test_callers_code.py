"""What a caller's own code raises inside a call of ours comes out as it is, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.simulator.schedules import publishes, schedule, subscribes
from twigcast import CoverIndex, Document, Matcher, Network, Pattern, Schema
from twigcast.covering import Advertisement, aggregate, merge, merge_degree, reduced, space_budget
from twigcast.door import door
from twigcast.errors import InternalError, UsageError
from twigcast.files import gather_subscriptions, list_documents, open_entries
from twigcast.library.matcher import Matcher as LibraryMatcher
from twigcast.matching import substituted
from twigcast.matching.interface import rules
from twigcast.simulator import Measured, Simulation

DOCUMENT = b"<a><b/></a>"
DTD = b"<!ENTITY % m SYSTEM 'm.mod'>%m;"
SCHEMA = Schema.parse(b"<!ELEMENT a (b*)><!ELEMENT b EMPTY>")


class Own(Exception):  # noqa: N818  # It is the caller's.
    """What a caller's code raises."""


def failing(*first: Any) -> Iterator[Any]:  # noqa: ANN401
    yield from first
    raise Own


class Failing:
    def __iter__(self) -> Iterator[Any]:
        raise Own


def raising(*_: object) -> Any:  # noqa: ANN401
    raise Own


def run(**named: Any) -> object:  # noqa: ANN401
    told = schedule([["a", "b"]], [subscribes("a", 1, "//b")], [publishes("b", "p")])
    return Simulation(told, **named).run()


ITERABLES: dict[str, tuple[Callable[[Iterable[Any]], object], Any]] = {
    "Matcher": (Matcher, "//a"),
    "Matcher.bindings": (lambda given: Matcher(["//*"]).bindings(DOCUMENT, given), 1),
    "aggregate": (lambda given: aggregate(given, steps_max=3), "/a/b"),
    "merge": (lambda given: merge(given, schema=SCHEMA), "/a/b"),
    "merge_degree": (
        lambda given: merge_degree(Pattern("/a"), given, schema=SCHEMA),
        Pattern("/a/b"),
    ),
    "reduced": (reduced, "/a/b"),
    "space_budget": (lambda given: space_budget(given, 50.0), "/a/b"),
    "of_documents": (Advertisement.of_documents, Document.parse(DOCUMENT)),
    "of_expressions": (Advertisement.of_expressions, "/a/b"),
    "substituted": (lambda given: substituted(Pattern("/*"), given), ("a", "b")),
    "gather_subscriptions": (gather_subscriptions, None),
    "list_documents": (lambda given: list(list_documents(".", found_in=given)), None),
    "open_entries": (lambda given: list(open_entries(given)), None),
}


@pytest.mark.parametrize("name", ITERABLES)
def test_what_an_iterator_raises_is_its_own(name: str) -> None:
    call, first = ITERABLES[name]
    for given in (failing(), failing(*[] if first is None else [first]), Failing()):
        with pytest.raises(Own):
            call(given)


@pytest.mark.parametrize("name", ITERABLES)
def test_what_an_iterator_in_c_raises_is_its_own(name: str) -> None:
    call, _ = ITERABLES[name]
    with pytest.raises(ValueError, match="invalid literal"):
        call(map(int, ["x"]))


@pytest.mark.parametrize("name", ITERABLES)
def test_what_is_no_iterable_is_a_slip(name: str) -> None:
    call, _ = ITERABLES[name]
    with pytest.raises(UsageError):
        call(5)  # type: ignore[arg-type]


FUNCTIONS: dict[str, Callable[[], object]] = {
    "resolve": lambda: Schema.parse(DTD, resolve=raising),
    "compiled_of": lambda: CoverIndex(compiled_of=raising).add(1, "//a"),
    "tell": lambda: reduced(["//a"], report=raising),
    "clock": lambda: run(clock=raising),
    "clock of costs": lambda: run(costs=Measured(raising)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_raises_is_its_own(name: str) -> None:
    with pytest.raises(Own):
        FUNCTIONS[name]()


def test_what_a_function_in_c_raises_is_its_own() -> None:
    modules: dict[object, bytes] = {}
    with pytest.raises(KeyError, match="mod"):
        Schema.parse(DTD, resolve=lambda _, system: modules[system])
    with pytest.raises(TypeError):
        Schema.parse(DTD, resolve=modules.__getitem__)  # type: ignore[arg-type]


def test_what_a_mapping_raises_is_a_slip_with_its_cause() -> None:
    class Torn(dict[int, str]):
        def items(self) -> Any:  # noqa: ANN401
            raise Own

        def __getitem__(self, key: int) -> str:
            raise Own

    with pytest.raises((UsageError, Own)) as caught:
        Matcher(Torn({1: "//a"}))
    assert isinstance(caught.value, Own) or isinstance(caught.value.__cause__, Own)


def test_an_index_whose_patterns_cannot_be_made_ready_is_as_it_was() -> None:
    index = CoverIndex(compiled_of=raising)
    with pytest.raises(Own):
        index.add(1, "//a")
    assert (len(index), index.roots(), 1 in index) == (0, [], False)


def test_a_subclass_that_cannot_be_made_says_so_itself() -> None:
    class Other(LibraryMatcher):
        def __init__(self, colour: str) -> None:
            super().__init__()
            self.colour = colour

    with pytest.raises(TypeError, match="engine"):
        Other.from_buffer(Matcher(["//a"]).to_bytes())


def test_a_block_of_a_batch_raises_its_own() -> None:
    network = Network({"links": [["a", "b"]]})
    with pytest.raises(Own), network.batch():
        raising()


def test_what_fails_of_ours_inside_a_callers_call_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_is_expression", raising)
    with pytest.raises(InternalError):
        Matcher([("a", "//a")])
    monkeypatch.setattr("twigcast.matching.matcher.Pattern.parse", raising)
    with pytest.raises(InternalError):
        Matcher(iter(["//a"]))

    @door("trying")
    def entrance(given: Iterable[str]) -> Matcher:
        return Matcher(given)

    with pytest.raises(InternalError):
        entrance(iter(["//a"]))
    monkeypatch.undo()
    with pytest.raises(Own):
        entrance(failing("//a"))
