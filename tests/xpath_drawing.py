"""Expressions of all of XPath 1.0 and documents that they meet, from a seeded generator.

With three names and few values, expressions and documents meet often. Expressions are plain XPath
and absolute, so the oracle takes them as they are.
"""

from __future__ import annotations

from random import Random
from typing import Final

__all__ = ["NAMESPACES", "document", "expression"]

NAMESPACES: Final = {"p": "urn:p"}

AXES: Final = (
    "ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self",
    "following", "following-sibling", "parent", "preceding", "preceding-sibling", "self",
)  # fmt: skip
_NAMES = ("a", "b", "c", "*", "a", "b", "p:a", "p:*")
_KINDS = ("node()", "text()", "comment()", "processing-instruction()", "node()", "text()",
          "processing-instruction('t')")  # fmt: skip
_WORDS = ("", "x", "y", "x y", " x  y ", "5", "10", "1e2", "-1", "1.5", "i1", "i2 i1", "en",
          "EN-us", "é", "yé x", "a", "p:a", "t", "true", "-", " 5 ", "0")  # fmt: skip
_VALUES = tuple(word.replace("'", "") for word in _WORDS)
_NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "1.5",
    "-1",
    "0.5",
    "10",
    "100",
    "1e2",
    "1 div 0",
    "-1 div 0",
    "0 div 0",
)
_POSITIONS = (
    "1", "2", "last()", "position() = 2", "position() < last()", "last() - 1", "last() = 2",
    "position() mod 2 = 1", "position() != 1", "1.5", "0",
)  # fmt: skip
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


def document(rng: Random) -> bytes:
    """A small document with nodes of every kind."""
    ids = iter(range(100))
    before = rng.choice(["", "<!-- x -->", "<?t x?>"])
    body = _element(rng, rng.randint(2, 5), ids)
    return f"{before}{body}{rng.choice(['', '<!--y-->', '<?u y?>'])}".encode()


def _element(rng: Random, depth: int, ids: object) -> str:
    name = rng.choice(["a", "b", "c", "a", "b", "p:a"])
    attributes = [
        f"{one}='{rng.choice(_VALUES)}'" for one in ("a", "b", "p:a") if rng.random() < 0.3
    ]
    if rng.random() < 0.2:
        attributes.append(f"xml:id='i{next(ids)}'")  # type: ignore[call-overload]
    if rng.random() < 0.15:
        attributes.append(f"xml:lang='{rng.choice(['en', 'EN', 'en-US', 'fr', 'enx', ''])}'")
    inside = []
    for _ in range(rng.randint(0, 4) if depth else 0):
        kind = rng.random()
        if kind < 0.55:
            inside.append(_element(rng, depth - 1, ids))
        elif kind < 0.8:
            inside.append(rng.choice(_VALUES))
        elif kind < 0.9:
            inside.append(f"<!--{rng.choice(['x', 'y', ' 5 '])}-->")
        else:
            inside.append(f"<?{rng.choice(['t', 'u'])} {rng.choice(['x', '5'])}?>")
    tag = " ".join([name, "xmlns:p='urn:p'", *attributes])
    return f"<{tag}>{''.join(inside)}</{name}>"


def expression(rng: Random, depth: int = 3) -> str:
    """An expression whose value at the document node is the same at every other one."""
    kind = rng.random()
    if kind < 0.6:
        return _absolute(rng, depth)
    if kind < 0.8:
        return _truth(rng, depth, root=True)
    if kind < 0.9:
        return f"boolean({_number(rng, depth, root=True)})"
    return f"boolean({_text(rng, depth, root=True)})"


def _absolute(rng: Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.7 or depth <= 0:
        lead = rng.choice(["/", "//", "//", "/descendant::node()/", "/descendant-or-self::node()/"])
        return lead + _steps(rng, depth)
    if kind < 0.85:
        inner = " | ".join(_absolute(rng, depth - 1) for _ in range(rng.randint(1, 2)))
        text = f"({inner})" + "".join(
            f"[{_predicate(rng, depth - 1)}]" for _ in range(rng.randint(0, 2))
        )
        return text + (
            rng.choice(["/", "//"]) + _steps(rng, depth - 1) if rng.random() < 0.5 else ""
        )
    if kind < 0.95:
        names = rng.choice(["'i1'", "'i2 i0 i1'", "'x i3'", _absolute(rng, depth - 1)])
        text = f"id({names})" + (f"[{_predicate(rng, depth - 1)}]" if rng.random() < 0.5 else "")
        return text + ("/" + _steps(rng, depth - 1) if rng.random() < 0.5 else "")
    return "(/)"


def _nodes(rng: Random, depth: int, *, root: bool) -> str:
    if root or rng.random() < 0.2:
        return _absolute(rng, depth)
    kind = rng.random()
    if kind < 0.8:
        return rng.choice(["", "", "", ".//", "../"]) + _steps(rng, depth)
    if kind < 0.9:
        return rng.choice([".", "..", "@*", "node()"])
    inner = f"({_steps(rng, depth - 1)} | {_steps(rng, depth - 1)})"
    return inner + (f"[{_predicate(rng, depth - 1)}]" if rng.random() < 0.5 else "")


def _steps(rng: Random, depth: int) -> str:
    steps = [_step(rng, depth) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    text = steps[0]
    for step in steps[1:]:
        text += rng.choice(["/", "/", "//"]) + step
    return text


def _step(rng: Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.08:
        return rng.choice([".", ".."])
    if kind < 0.45:
        text = rng.choice(_NAMES)
    elif kind < 0.55:
        text = "@" + rng.choice([*_NAMES, "node()"])
    elif kind < 0.62:
        text = rng.choice(_KINDS)
    else:
        text = f"{rng.choice(AXES)}::{rng.choice([*_NAMES, *_KINDS])}"
    while depth > 0 and rng.random() < 0.35:
        text += f"[{_predicate(rng, depth - 1)}]"
        depth -= 1
    return text


def _predicate(rng: Random, depth: int) -> str:
    kind = rng.random()
    if kind < 0.25:
        return rng.choice(_POSITIONS)
    if kind < 0.3:
        return _number(rng, depth, root=False)
    if kind < 0.6:
        return _nodes(rng, depth, root=False)
    return _truth(rng, depth, root=False)


def _truth(rng: Random, depth: int, *, root: bool) -> str:
    kind = rng.random()
    if depth <= 0 or kind < 0.1:
        return rng.choice(["true()", "false()", _nodes(rng, 0, root=root)])
    if kind < 0.2:
        return f"not({rng.choice([_truth, _nodes])(rng, depth - 1, root=root)})"
    if kind < 0.3:
        word = rng.choice(["and", "or"])
        return f"({_truth(rng, depth - 1, root=root)} {word} {_nodes(rng, depth - 1, root=root)})"
    if kind < 0.4:
        name = rng.choice(["contains", "starts-with"])
        return f"{name}({_text(rng, depth - 1, root=root)}, {_text(rng, depth - 1, root=root)})"
    if kind < 0.45 and not root:
        return f"lang({rng.choice(['en', 'EN', 'en-us', 'fr', ''])!r})"
    if kind < 0.5:
        one = rng.choice([_nodes, _text, _number])(rng, depth - 1, root=root)
        return f"boolean({one})"
    sides = [
        rng.choice([_nodes, _nodes, _text, _number, _truth])(rng, depth - 1, root=root)
        for _ in "12"
    ]
    return f"({sides[0]}) {rng.choice(_COMPARISONS)} ({sides[1]})"


def _number(rng: Random, depth: int, *, root: bool) -> str:
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return rng.choice(_NUMBERS)
    if kind < 0.4:
        return f"count({_nodes(rng, depth - 1, root=root)})"
    if kind < 0.5:
        return f"sum({_nodes(rng, depth - 1, root=root)})"
    if kind < 0.6:
        return f"string-length({_text(rng, depth - 1, root=root)})"
    if kind < 0.7:
        name = rng.choice(["floor", "ceiling", "round", "-"])
        return f"{name}({_number(rng, depth - 1, root=root)})"
    if kind < 0.8:
        one = rng.choice([_nodes, _text, _truth])(rng, depth - 1, root=root)
        return f"number({one})"
    if kind < 0.85 and not root:
        return rng.choice(["string-length()", "number()", "position()", "last()"])
    sides = [_number(rng, depth - 1, root=root) for _ in "12"]
    return f"({sides[0]} {rng.choice(['+', '-', '*', 'div', 'mod'])} {sides[1]})"


def _text(rng: Random, depth: int, *, root: bool) -> str:
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return repr(rng.choice(_VALUES))
    if kind < 0.35:
        one = rng.choice([_nodes, _nodes, _number, _truth])(rng, depth - 1, root=root)
        return f"string({one})"
    if kind < 0.5:
        name = rng.choice(["name", "local-name", "namespace-uri"])
        return f"{name}({_nodes(rng, depth - 1, root=root)})"
    if kind < 0.6:
        return f"normalize-space({_text(rng, depth - 1, root=root)})"
    if kind < 0.65 and not root:
        return rng.choice(
            ["name()", "string()", "local-name()", "namespace-uri()", "normalize-space()"]
        )
    texts = [_text(rng, depth - 1, root=root) for _ in "123"]
    if kind < 0.75:
        return f"concat({', '.join(texts)})"
    if kind < 0.85:
        name = rng.choice(["substring-before", "substring-after"])
        return f"{name}({texts[0]}, {rng.choice([texts[1], repr(' '), repr('x')])})"
    if kind < 0.93:
        numbers = ", ".join(_number(rng, depth - 1, root=root) for _ in range(rng.randint(1, 2)))
        return f"substring({texts[0]}, {numbers})"
    letters, others = rng.choice(["xyé", "x", "", "aab"]), rng.choice(["ab", "", "xyz"])
    return f"translate({texts[0]}, {letters!r}, {others!r})"
