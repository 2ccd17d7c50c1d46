"""The text form of path automata, and its reader: one line for each state.

    0: list=1
    1: space() item=2
    2: text() @kind("cup"|"tea") list=1

A line has the number of a state, the text that may stand there (``text()``, or ``space()`` for
white space alone), the attributes, with their values if those are known, and the child elements,
each with the state it leads to. Labels are written as in path expressions, values as JSON. One
automaton has one text.

The text may come from an untrusted source. It is read in one pass, and the automaton is constructed
anew from it. The limits of automata hold for what is written, before anything is constructed.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    AutomatonLimits,
    PathAutomaton,
    PathState,
    Sketch,
    TextKind,
    Values,
    path_automaton,
)
from twigcast.covering.paths.expression import label_text
from twigcast.errors import SchemaError
from twigcast.language.condition.model import Kind, Label

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
    """The automaton of a text; SchemaError, with the line, if it is malformed or too large."""
    return path_automaton(_AutomatonReader(text, limits).read(), limits)


class _AutomatonReader:
    """Reads a text from left to right into a sketch, and no further than the limits allow."""

    def __init__(self, text: str, limits: AutomatonLimits) -> None:
        self._text = text
        self._limits = limits
        self._visited = 0
        """Edges, attributes and values so far."""
        self._arrivals: set[tuple[Label, int]] = set()
        self._position = 0
        self._sketch = Sketch()
        self._edges: list[list[tuple[Label, int]]] = []

    def read(self) -> Sketch:
        end = len(self._text.rstrip())
        while self._position < end:
            token = _TOKEN.match(self._text, self._position)
            if token is None:
                self._fail("something here is not part of a state")
            self._position = token.end()
            if token["number"]:
                self._begin(token["number"])
            elif not self._edges:
                self._fail("it does not begin with the number of a state")
            else:
                self._add(token)
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

    def _add(self, token: re.Match[str]) -> None:
        state = len(self._edges) - 1
        self._visited += 1
        if token["text"]:
            self._sketch.texts[state] = _KINDS[token["text"]]
        elif token["attribute"]:
            label = _label(Kind.ATTRIBUTE, token["attribute"])
            self._sketch.attributes[state][label] = self._values(token["values"])
        else:
            label = _label(Kind.ELEMENT, token["element"])
            edge = label, int(token["target"][:_DIGITS_MAX])
            self._edges[state].append(edge)
            self._arrivals.add(edge)
            self._limits.check_states(len(self._arrivals))
        self._limits.check_edges(self._visited)

    def _values(self, text: str | None) -> Values:
        if text is None:
            return None
        literals = re.findall(_STRING, text)
        self._visited += len(literals)
        self._limits.check_edges(self._visited)
        try:
            return tuple(sorted({json.loads(one) for one in literals}))
        except json.JSONDecodeError:
            self._fail("a value is not a JSON string")

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


def _state_text(state: PathState) -> str:
    parts = [{TextKind.NONE: "", TextKind.BLANK: "space()", TextKind.ANY: "text()"}[state.text]]
    parts.extend(label_text(label) + _values_text(values) for label, values in state.attributes)
    parts.extend(f"{label_text(label)}={target}" for label, target in state.edges)
    return " ".join(filter(None, parts))


def _values_text(values: Values) -> str:
    if values is None:
        return ""
    return f"({'|'.join(json.dumps(value, ensure_ascii=False) for value in values)})"
