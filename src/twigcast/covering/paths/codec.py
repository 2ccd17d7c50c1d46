"""An automaton of label paths as text, and back: a line for each state, one text for one automaton.

    0: list=1
    1: space() item=2
    2: text() @kind("cup"|"tea") list=1

A line has the number of a state, the text that may stand there (``text()``, or ``space()`` for
white space alone), attributes, with their values if those are known, and the elements that lead
on, each with the state it leads to. Labels are written as in path expressions, values as JSON.

The text may come from a stranger. It is read in one pass, what it says is made into an automaton
anew. The limits of automata hold for what is written, before anything is made of it.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    AutomatonLimits,
    PathAutomaton,
    Sketch,
    State,
    TextKind,
    Values,
    path_automaton,
)
from twigcast.covering.paths.expression import label_text
from twigcast.errors import SchemaError
from twigcast.language.condition.model import Kind, Label

__all__ = ["automaton_text", "read_automaton"]

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_NAME: Final = r"(?:\{[^{}]*\}|\*:)?[^\s(){}*=@]+"
_TOKEN: Final = re.compile(
    rf"""\s*(?:
      (?P<number>[0-9]+):
    | (?P<text>text\(\)|space\(\))
    | @(?P<attribute>{_NAME})(?P<values>\((?:{_STRING}(?:\|{_STRING})*)?\))?
    | (?P<element>\*|{_NAME})=(?P<target>[0-9]+)
    )(?=\s|$)""",
    re.VERBOSE,
)
_KINDS: Final = {"text()": TextKind.ANY, "space()": TextKind.BLANK}
_DIGITS_MAX: Final = 9
"""Digits of a state's number; more states than any limit allows."""


def automaton_text(paths: PathAutomaton) -> str:
    """The text of an automaton."""
    lines = (f"{number}: {_state_text(state)}" for number, state in enumerate(paths.states))
    return "\n".join(line.rstrip() for line in lines)


def read_automaton(text: str, limits: AutomatonLimits = AUTOMATON_LIMITS) -> PathAutomaton:
    """The automaton of a text; SchemaError, with the line, if it is none or is too large."""
    return path_automaton(_Reader(text, limits).read(), limits)


class _Reader:
    """Reads a text from left to right into a sketch, and no further than the limits allow."""

    def __init__(self, text: str, limits: AutomatonLimits) -> None:
        self._text = text
        self._limits = limits
        self._read = 0
        """Edges, attributes and values so far."""
        self._arrivals: set[tuple[Label, int]] = set()
        self._position = 0
        self._sketch = Sketch()
        self._edges: list[list[tuple[Label, int]]] = []

    def read(self) -> Sketch:
        end = len(self._text.rstrip())
        while self._position < end:
            found = _TOKEN.match(self._text, self._position)
            if found is None:
                self._fail("something here is no part of a state")
            self._position = found.end()
            if found["number"]:
                self._begin(found["number"])
            elif not self._edges:
                self._fail("it does not begin with the number of a state")
            else:
                self._take(found)
        for number, edges in enumerate(self._edges):
            for label, target in edges:
                if target >= len(self._edges):
                    self._fail(f"{label_text(label)} of state {number} leads to no state")
            self._sketch.edges[number] = edges
        return self._sketch

    def _begin(self, number: str) -> None:
        if number != str(len(self._edges)):
            self._fail(f"state {len(self._edges)} should begin here, not {number[:_DIGITS_MAX]}")
        if self._edges:
            self._sketch.add()
        self._edges.append([])
        self._limits.check_states(len(self._edges))

    def _take(self, found: re.Match[str]) -> None:
        state = len(self._edges) - 1
        self._read += 1
        if found["text"]:
            self._sketch.texts[state] = _KINDS[found["text"]]
        elif found["attribute"]:
            label = _label(Kind.ATTRIBUTE, found["attribute"])
            self._sketch.attributes[state][label] = self._values(found["values"])
        else:
            label = _label(Kind.ELEMENT, found["element"])
            edge = label, int(found["target"][:_DIGITS_MAX])
            self._edges[state].append(edge)
            self._arrivals.add(edge)
            self._limits.check_states(len(self._arrivals))
        self._limits.check_edges(self._read)

    def _values(self, text: str | None) -> Values:
        if text is None:
            return None
        written = re.findall(_STRING, text)
        self._read += len(written)
        self._limits.check_edges(self._read)
        try:
            return tuple(sorted({json.loads(one) for one in written}))
        except json.JSONDecodeError:
            self._fail("a value is no string of JSON")

    def _fail(self, reason: str) -> NoReturn:
        line = self._text.count("\n", 0, self._position) + 1
        raise SchemaError(f"the text is no advertisement: {reason}", line=line)


def _label(kind: Kind, text: str) -> Label:
    if text == "*":
        return Label(kind)
    space, brace, local = text.rpartition("}")
    if brace:
        return Label(kind, space[1:], local)
    if text.startswith("*:"):
        return Label(kind, None, text[2:])
    return Label(kind, "", text)


def _state_text(state: State) -> str:
    parts = [{TextKind.NONE: "", TextKind.BLANK: "space()", TextKind.ANY: "text()"}[state.text]]
    parts.extend(label_text(label) + _values_text(values) for label, values in state.attributes)
    parts.extend(f"{label_text(label)}={target}" for label, target in state.edges)
    return " ".join(filter(None, parts))


def _values_text(values: Values) -> str:
    if values is None:
        return ""
    return f"({'|'.join(json.dumps(value, ensure_ascii=False) for value in values)})"
