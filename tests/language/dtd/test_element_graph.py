"""Recursion and heights, compared with slow and obvious ways to find them."""

from __future__ import annotations

from hypothesis import given

from tests.language.schema_strategies import declarations
from twigcast.language.dtd.declarations import (
    Anything,
    Child,
    Choice,
    ElementDeclaration,
    Empty,
    Mixed,
    Occurs,
    Particle,
    child_names,
)
from twigcast.language.dtd.element_graph import lowest_heights, recursive_elements


@given(declarations())
def test_recursive_elements_reach_themselves(declared: tuple[ElementDeclaration, ...]) -> None:
    elements = {element.name: element for element in declared}

    def reached_from(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for child in child_names(elements[waiting.pop()].content):
                if child in elements and child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    assert recursive_elements(elements) == {name for name in elements if name in reached_from(name)}


@given(declarations())
def test_heights_are_the_least_solution(declared: tuple[ElementDeclaration, ...]) -> None:
    elements = {element.name: element for element in declared}
    known: dict[str, float] = dict.fromkeys(elements, float("inf"))
    for _ in elements:
        for name, element in elements.items():
            known[name] = 1 + _lowest(element, known)
    finite = {name: height for name, height in known.items() if height < float("inf")}
    assert lowest_heights(elements) == finite


def test_a_chain_of_ten_thousand_elements_is_no_burden() -> None:
    count = 10_000
    names = [f"e{number}" for number in range(count)]
    elements = {
        name: ElementDeclaration(name, Child(following))
        for name, following in zip(names, [*names[1:], "leaf"], strict=True)
    }
    elements["leaf"] = ElementDeclaration("leaf", Choice((Child("e0"), Child("e1")), Occurs.ANY))
    assert lowest_heights(elements)["e0"] == count + 1
    assert recursive_elements(elements) == set(elements)


def _lowest(element: ElementDeclaration, known: dict[str, float]) -> float:
    if isinstance(element.content, Empty | Anything | Mixed):
        return 0
    return _lowest_particle(element.content, known)


def _lowest_particle(particle: Particle, known: dict[str, float]) -> float:
    if particle.occurs.may_be_absent:
        return 0
    if isinstance(particle, Child):
        return known.get(particle.name, float("inf"))
    parts = [_lowest_particle(part, known) for part in particle.parts]
    return min(parts) if isinstance(particle, Choice) else max(parts)
