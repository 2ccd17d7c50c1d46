"""The label paths of documents: collected from samples, or checked against an automaton.

Samples show what a publisher has sent, not what it may send, so something has to be assumed:

- the paths seen are all there are; none is inferred, however often something recurs;
- paths occur together in any number, order and combination;
- values of attributes and texts may be any;
- white space may stand in every element, other text only where some was seen.

A publisher that keeps to its advertisement checks each document with
:meth:`PathFollower.departure`, which returns the first node that was not advertised; a new
advertisement is then needed.

Both visit each node of a document once, with a stack as deep as the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, cast

from twigcast.covering.paths.automaton import (
    AUTOMATON_LIMITS,
    DOCUMENT_NODE,
    AutomatonLimits,
    PathAutomaton,
    Sketch,
    TextKind,
    Values,
    most_special,
)
from twigcast.errors import DocumentLimitError
from twigcast.language.condition.model import Kind, Label
from twigcast.language.document.parse import Document, split_tag
from twigcast.language.document.tree_walk import walk_texts

_BLANKS: Final = " \t\r\n"
_NAMES_MAX: Final = 4096
"""Names whose labels are cached; more than any vocabulary has."""


class PathCollection:
    """The paths of the documents added so far."""

    def __init__(self, limits: AutomatonLimits = AUTOMATON_LIMITS) -> None:
        self.sketch = Sketch()
        self._below: list[dict[Label, int]] = [{}]
        self._limits = limits

    def add(self, document: Document) -> None:
        """Add the paths of a document; DocumentLimitError if there are too many in all."""
        stack = [DOCUMENT_NODE]
        for node in _walk(document):
            if isinstance(node, _StartTag):
                stack.append(self._state(stack[-1], node, document))
            elif node is None:
                stack.pop()
            elif node.strip(_BLANKS):
                self.sketch.texts[stack[-1]] = TextKind.ANY

    def _state(self, above: int, element: _StartTag, document: Document) -> int:
        state = self._below[above].get(element.label)
        if state is None:
            state = self.sketch.add(TextKind.BLANK)
            self._below[above][element.label] = state
            self._below.append({})
            cast("list[tuple[Label, int]]", self.sketch.edges[above]).append((element.label, state))
            self.sketch.edges[state] = []
            if state > self._limits.states_max:
                raise DocumentLimitError(
                    "too many different paths in the sample",
                    limit="states_max",
                    given=state,
                    allowed=self._limits.states_max,
                    document=document.name,
                )
        for label, _ in element.attributes:
            self.sketch.attributes[state][label] = None
        return state


class PathFollower:
    """An automaton compiled to check documents."""

    def __init__(self, paths: PathAutomaton) -> None:
        self._paths = paths
        self._tables = paths.tables()
        self._attributes = [
            {label: place for place, (label, _) in enumerate(state.attributes)}
            for state in paths.states
        ]

    def departure(self, document: Document) -> str | None:
        """The first path of the document that is not in the automaton; None if all are.

        >>> from twigcast.covering.paths.automaton import path_automaton
        >>> seen = PathCollection()
        >>> seen.add(Document.parse(b"<a><b x='1'/></a>"))
        >>> follower = PathFollower(path_automaton(seen.sketch))
        >>> follower.departure(Document.parse(b"<a><b x='2'/> <b/></a>"))
        >>> follower.departure(Document.parse(b"<a><b y='2'/></a>"))
        '/a/b/@y'
        """
        states, path = [DOCUMENT_NODE], [""]
        for node in _walk(document):
            here = states[-1]
            if node is None:
                states.pop()
                path.pop()
            elif isinstance(node, _StartTag):
                path.append(_name_of(node.label))
                state = most_special(self._tables[here], node.label)
                if state is None:
                    return "/".join(path)
                states.append(state)
                for label, value in node.attributes:
                    if not self._allows(state, label, value):
                        return "/".join([*path, f"@{_name_of(label)}"])
            elif not _text_fits(self._paths.states[here].text, node):
                return "/".join([*path, "text()"])
        return None

    def _allows(self, state: int, label: Label, value: str) -> bool:
        place = most_special(self._attributes[state], label)
        if place is None:
            return False
        values: Values = self._paths.states[state].attributes[place][1]
        return values is None or value.strip(" ") in values


class _StartTag(NamedTuple):
    label: Label
    attributes: list[tuple[Label, str]]


def _walk(document: Document) -> Iterator[_StartTag | str | None]:
    """An element for each start tag, a text for each text, None for each end tag."""
    for one in walk_texts(document.tree.getroot()):
        if one is None:
            yield None
        elif isinstance(one, str):
            if one:
                yield one
        else:
            yield _StartTag(
                _label_of(Kind.ELEMENT, str(one.tag)),
                [(_label_of(Kind.ATTRIBUTE, str(key)), str(one.get(key))) for key in one.keys()],  # noqa: SIM118  # An element is no mapping.
            )


@lru_cache(maxsize=_NAMES_MAX)
def _label_of(kind: Kind, tag: str) -> Label:
    return Label(kind, *split_tag(tag))


def _name_of(label: Label) -> str:
    return f"{{{label.namespace}}}{label.local}" if label.namespace else str(label.local)


def _text_fits(allowed: TextKind, text: str) -> bool:
    return allowed is TextKind.ANY or (allowed is TextKind.BLANK and not text.strip(_BLANKS))
