"""Advice on texts that are no XPath of any version, by their form.

CSS selectors, JSONPath, regular expressions, plain words, XML, a slash too many. Each kind has a
function from the error to advice, or None where the text has another form. ``accepts`` is whether a
text is an expression; only expressions are proposed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from twigcast.errors import PatternError
from twigcast.language.xpath.hints.pieces import literal

Accepts = Callable[[str], bool]

_JSON_STEP: Final = re.compile(
    r"(\.\.|\.)?(?:([A-Za-z_][\w-]*|\*)|\[(?:'([^'\]]*)'|\"([^\"\]]*)\"|([0-9]{1,9})|\*)\])"
)
_CSS_PART: Final = re.compile(
    r"(?P<combinator>\s*>\s*|\s+)?(?P<name>[A-Za-z_][\w-]*|\*)?"
    r"(?P<marks>(?:[.#][A-Za-z_][\w-]*|:first-child|:last-child|"
    r"\[[A-Za-z_][\w:-]*(?:=(?:\"[^\"]*\"|'[^']*'))?\])*)"
)
_CSS_MARK: Final = re.compile(r"([.#:\[])([A-Za-z_][\w:-]*)(?:=(\"[^\"]*\"|'[^']*'))?")
_WORDS: Final = re.compile(r"[^\W\d_][\w-]*(?: [^\W\d_][\w-]*)+")
_PROPOSED_MAX = 1000


def advice_by_looks(error: PatternError, accepts: Accepts) -> str | None:
    """Advice on a text of such a form, or None."""
    text = error.text.strip()
    for look in (_xml, _jsonpath, _css, _pattern, _plain_words, _surplus, _quote):
        advice = look(text, error, accepts)
        if advice is not None:
            return advice
    return None


def _xml(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    if text.startswith("<") and text.endswith(">"):
        return "this looks like XML; an expression looks like //order[@state = 'open']"
    return None


def _jsonpath(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    if not re.match(r"\$[.\[]", text):
        return None
    path, position = "", 1
    while position < len(text):
        step = _JSON_STEP.match(text, position)
        if step is None:
            break
        position = step.end()
        dots, name, single, double, index = step.groups()
        name = name or single or double
        if index is not None:
            path += f"[{int(index) + 1}]"
        elif name is not None:
            path += ("//" if dots == ".." or not path else "/") + name
    if position == len(text) and _proposable(path, accepts):
        return f"this looks like JSONPath; the XPath for it is {path}"
    return "this looks like JSONPath; in XPath a path is written /a/b, or //b for b anywhere"


def _css(text: str, error: PatternError, accepts: Accepts) -> str | None:
    refused = error.text[error.column - 1 : error.column]
    if refused not in {"#", ":"} and text[:1] != "." and "-child" not in text:
        return None
    path, position = "", 0
    while position < len(text):
        part = _CSS_PART.match(text, position)
        if part is None or part.end() == position:
            return None
        position = part.end()
        child = ">" in (part["combinator"] or "")
        path += ("/" if child else "//") + (part["name"] or "*")
        path += "".join(_css_mark(*mark.groups()) for mark in _CSS_MARK.finditer(part["marks"]))
        if len(path) > _PROPOSED_MAX:
            return None
    if not _proposable(path, accepts):
        return None
    return f"this looks like a CSS selector; the XPath for it is {path}"


def _css_mark(mark: str, name: str, value: str | None) -> str:
    if mark == "#":
        return f"[@id = '{name}']"
    if mark == ".":
        return f"[contains(concat(' ', normalize-space(@class), ' '), ' {name} ')]"
    if mark == "[":
        return f"[@{name} = {value}]" if value else f"[@{name}]"
    return "[not(preceding-sibling::*)]" if name == "first-child" else "[not(following-sibling::*)]"


def _pattern(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    if text[:1] != "^" and "\\" not in text:
        return None
    return (
        "this looks like a regular expression, which XPath 1.0 has not; "
        "contains(., 'x') and starts-with(., 'x') come closest"
    )


def _plain_words(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    if len(text) > _PROPOSED_MAX or not _WORDS.fullmatch(text):
        return None
    advice = f"to look for words write contains(., {literal(text).text})"
    path = "//" + "//".join(text.split())
    return f"{advice}, for elements {path}" if _proposable(path, accepts) else advice


def _surplus(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    """A slash or a wildcard too many."""
    if text == "//":
        return "/ alone matches every document, //* every document that has an element"
    for proposed in (
        text.rstrip("/"),
        text.replace("/[", "["),
        text.replace("///", "//"),
        text.replace("*:*", "*"),
    ):
        if proposed != text and _proposable(proposed, accepts):
            return f"did you mean {proposed}?"
    return None


def _quote(text: str, error: PatternError, accepts: Accepts) -> str | None:  # noqa: ARG001
    if not error.expected.startswith("a closing "):
        return None
    quote = error.text[error.column - 1]
    if error.text.count(quote) == 1:
        return f"put {quote} behind the text"
    other = "double" if quote == "'" else "single"
    return f"a text that has {quote} in it stands in {other} quotes"


def _proposable(text: str, accepts: Accepts) -> bool:
    return 0 < len(text) <= _PROPOSED_MAX and accepts(text)
