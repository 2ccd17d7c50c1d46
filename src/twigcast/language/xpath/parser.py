"""The parser: recursive descent from text to the syntax tree of XPath 1.0.

There is one method for each important production, and precedence climbing for binary operators:

    or < and < = != < <  <= > >= < + - < * div mod < unary - < | < path

Everything that libxml2 would only detect on a document is refused here, with a column: unknown
functions, wrong numbers of arguments, a string where a node-set is needed, variables, unbound
prefixes. So an expression that parses can be evaluated on every document.

The cost is one pass; the limits bound length, steps, predicates, operators and nesting, hence also
the recursion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from twigcast.errors import PatternError, PatternLimitError
from twigcast.language.xpath.lexer import Token, tokens
from twigcast.language.xpath.syntax import (
    ANYWHERE_BELOW,
    CONTEXT_NODE,
    FUNCTIONS,
    XML_NAMESPACE,
    Axis,
    Binary,
    Call,
    Chain,
    Expression,
    KindTest,
    Literal,
    NameTest,
    Negative,
    Number,
    Path,
    Step,
    Type,
    Union,
    filtered,
    in_document_order,
    is_positional,
    tidy,
    type_of,
)
from twigcast.slips import check_fields

_PRECEDENCE: Final = {
    "or": 1, "and": 2,
    "=": 3, "!=": 3,
    "<": 4, "<=": 4, ">": 4, ">=": 4,
    "+": 5, "-": 5,
    "*": 6, "div": 6, "mod": 6,
}  # fmt: skip
_KINDS: Final = frozenset({"node", "text", "comment", "processing-instruction"})
_FOREIGN: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_PARENT: Final = Step(Axis.PARENT, KindTest("node"))
UNBOUND_PREFIX: Final = "a prefix with a namespace"
"""The expectation in errors about unbound prefixes."""

_NAME_COMPARED_MAX = 40
"""Characters of a name that are compared with the known names."""

_DIGITS_EXACT_MAX = 15
"""Digits up to which a decimal fraction is read exactly enough."""


@dataclass(frozen=True, slots=True)
class PatternLimits:
    """How large an expression may be.

    The defaults hold all 21,000 expressions of XPath 1.0 in public rule sets and stylesheets for
    invoices, articles and manuals, and keep any single expression cheap to store and to check.
    """

    characters_max: int = 16_384
    """Twice the longest of them: lists of codes that a value must be among have 8,618, and grow."""
    steps_max: int = 256
    """One of them has 191, since it names as many elements. An alternative without a step, such as
    ``id('x')`` in a union, counts as one."""
    predicates_max: int = 32
    predicate_depth_max: int = 8
    nesting_max: int = 32
    """Parentheses, calls and predicates inside each other, and signs in a row."""
    operators_max: int = 128
    """Operators between two operands, except ``|``; a chain of them is a tree of that depth."""
    steps_in_row_max: int = 64
    """Steps one after the other, from the first of a path to the last in a predicate of its last.
    Unlike alternatives they make a condition deep, which costs stack wherever it is looked at."""

    def __post_init__(self) -> None:
        check_fields(self)


def parse_expression(text: str, namespaces: Mapping[str, str], limits: PatternLimits) -> Expression:
    """The syntax tree of ``text``, prefixes resolved by ``namespaces``.

    Raises :class:`PatternError` with the column, what was expected there, and what to write
    instead where that is known.
    """
    if len(text) > limits.characters_max:
        raise PatternLimitError(
            text,
            column=limits.characters_max + 1,
            limit="characters_max",
            given=len(text),
            allowed=limits.characters_max,
        )
    foreign = first_foreign_character(text)
    if foreign is not None:
        raise PatternError(
            text,
            column=foreign + 1,
            expected=f"no character {text[foreign]!r} here: no XML document can hold it",
        )
    try:
        return _Parser(text, namespaces, limits).whole()
    except PatternLimitError:
        raise
    except PatternError as error:
        from twigcast.language.xpath.hints import advised

        raise advised(error, partial(_accepts, limits)) from None


def _accepts(limits: PatternLimits, text: str) -> bool:
    """Whether the text is an expression, given a namespace for each of its prefixes."""
    try:
        _Parser(text, _EveryPrefix(), limits).whole()
    except PatternError:
        return False
    return True


class _EveryPrefix(dict[str, str]):
    """A map in which no prefix is missing."""

    def __missing__(self, prefix: str) -> str:
        return f"urn:{prefix}"


def first_foreign_character(text: str) -> int | None:
    """The position of the first character that XML does not allow (XML 1.0, 2.2), or None.

    libxml2 accepts no string with such a character, and none can be equal to it.
    """
    found = _FOREIGN.search(text)
    return found.start() if found else None


class _Parser:
    """The state of one parse: position, depth and counts."""

    def __init__(self, text: str, namespaces: Mapping[str, str], limits: PatternLimits) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._namespaces = namespaces
        self._limits = limits
        self._steps = self._predicates = self._predicate_depth = self._nesting = 0
        self._operators = 0
        self._row = 0
        """The steps from the beginning of the outermost path to here."""
        self._longest_row = 0

    def whole(self) -> Expression:
        expression = self._expression()
        token = self._peek()
        if token.kind != "end":
            opening = {")": "(", "]": "["}.get(token.text)
            hint = f"there is no '{opening}' that this '{token.text}' closes" if opening else None
            self._fail("an operator or the end of the expression", hint=hint)
        return expression

    # Operators.

    def _expression(self) -> Expression:
        self._nesting = self._within("nesting_max", self._nesting + 1)
        expression = self._binary(1)
        self._nesting -= 1
        return expression

    def _binary(self, lowest: int) -> Expression:
        left = self._unary()
        while True:
            operator = self._peek().text
            precedence = _PRECEDENCE.get(operator, 0)
            if precedence < lowest:
                return left
            self._operators = self._within("operators_max", self._operators + 1)
            self._advance()
            left = Binary(operator, left, self._binary(precedence + 1))

    def _unary(self) -> Expression:
        if not self._take("-"):
            return self._union()
        self._nesting = self._within("nesting_max", self._nesting + 1)
        operand = self._unary()
        self._nesting -= 1
        return Negative(operand)

    def _union(self) -> Expression:
        column = self._peek().column
        first = self._path()
        if self._peek().text != "|" or self._peek().kind != "symbol":
            return first
        self._must_be_nodes(first, column, "'|'")
        parts = [first]
        while self._take("|"):
            column, steps = self._peek().column, self._steps
            parts.append(self._path())
            if self._steps == steps:
                self._steps = self._within("steps_max", steps + 1)
            self._must_be_nodes(parts[-1], column, "'|'")
        return Union(tuple(parts))

    # Paths and steps.

    def _path(self) -> Expression:
        row = self._row
        path = self._any_path()
        self._row = row
        return path

    def _any_path(self) -> Expression:
        token = self._peek()
        if token.kind == "symbol" and token.text in ("/", "//"):
            return self._absolute_path()
        if self._begins_step():
            return Path.relative(tidy(self._relative_steps()) or (CONTEXT_NODE,))
        return self._filter_path()

    def _absolute_path(self) -> Path:
        if self._take("//"):
            return Path.rooted(tidy([ANYWHERE_BELOW, *self._relative_steps("'//'")]))
        self._advance()
        if self._begins_step():
            return Path.rooted(tidy(self._relative_steps()))
        if self._peek().kind == "name":
            # After a slash no name is an operator (3.7), so this is a call: '/ and (a)'.
            self._fail("a step after '/', not a call; a lone '/' before an operator is (/)")
        self._steps = self._within("steps_max", self._steps + 1)
        return Path.rooted(())

    def _filter_path(self) -> Expression:
        column = self._peek().column
        longest, self._longest_row = self._longest_row, self._row
        in_parentheses = self._looking_at("(")
        expression = self._primary()
        self._row = self._longest_row  # What follows is evaluated at the nodes that are found here.
        self._longest_row = max(longest, self._longest_row)
        if self._looking_at("["):
            self._must_be_nodes(expression, column, "'['")
            predicates = self._predicate_list()
            if in_parentheses and any(map(is_positional, predicates)):
                expression = in_document_order(expression)
            expression = filtered(expression, predicates)
        if self._looking_at("/") or self._looking_at("//"):
            self._must_be_nodes(expression, column, "'/'")
            double = self._advance().text == "//"
            steps = self._relative_steps("'//'" if double else "'/'")
            expression = Chain(
                expression, tidy([ANYWHERE_BELOW] * double + steps) or (CONTEXT_NODE,)
            )
        return expression

    def _relative_steps(self, after: str = "") -> list[Step]:
        """The steps as written, except ``.``, which libxml2 drops, too."""
        steps = [self._step(after)]
        while True:
            if steps[-1] is CONTEXT_NODE:
                steps.pop()
            if self._take("//"):
                steps += (ANYWHERE_BELOW, self._step("'//'"))
            elif self._take("/"):
                steps.append(self._step("'/'"))
            else:
                return steps

    def _begins_step(self) -> bool:
        token = self._peek()
        if token.kind == "symbol":
            return token.text in (".", "..", "@", "*")
        if token.kind != "name":
            return False
        return not (self._next_is("(") and token.text not in _KINDS)

    def _step(self, after: str = "") -> Step:
        self._steps = self._within("steps_max", self._steps + 1)
        self._row = self._within("steps_in_row_max", self._row + 1)
        self._longest_row = max(self._longest_row, self._row)
        if self._take("."):
            return self._abbreviated(CONTEXT_NODE)
        if self._take(".."):
            return self._abbreviated(_PARENT)
        axis = Axis.CHILD
        if self._take("@"):
            axis, after = Axis.ATTRIBUTE, "'@'"
        elif self._peek().kind == "name" and self._next_is("::"):
            axis, after = self._axis(), "'::'"
        test = self._node_test(after)
        return Step(axis, test, self._predicate_list())

    def _abbreviated(self, step: Step) -> Step:
        # The grammar has no predicates here (2.5), and libxml2 follows it.
        if self._looking_at("["):
            name = "self" if step is CONTEXT_NODE else "parent"
            self._fail(f"'{name}::node()' in full before a predicate")
        return step

    def _axis(self) -> Axis:
        token = self._peek()
        try:
            axis = Axis(token.text)
        except ValueError:
            from difflib import get_close_matches

            close = get_close_matches(token.text[:_NAME_COMPARED_MAX], list(Axis), n=1)
            hint = f"did you mean {close[0]}::?" if close else None
            self._fail(f"one of XPath's axes instead of {token.text!r}", hint=hint)
        self._advance()
        self._advance()
        return axis

    def _node_test(self, after: str) -> NameTest | KindTest:
        token = self._peek()
        if token.kind == "symbol" and token.text == "*":
            self._advance()
            return NameTest(None, None)
        if token.kind != "name":
            self._fail("a name or '*'" + (f" after {after}" if after else ""))
        if token.text in _KINDS and self._next_is("("):
            return self._kind_test()
        self._advance()
        return self._name_test(token)

    def _name_test(self, token: Token) -> NameTest:
        name = token.text
        if name.startswith("{"):
            namespace, _, local = name[1:].partition("}")
            return NameTest(namespace, None if local == "*" else local)
        prefix, colon, local = name.rpartition(":")
        if not colon:
            return NameTest("", name)
        if prefix == "*":
            return NameTest(None, local)
        return NameTest(self._namespace(prefix, token), None if local == "*" else local)

    def _namespace(self, prefix: str, token: Token) -> str:
        if prefix == "xml":
            return XML_NAMESPACE
        try:
            return self._namespaces[prefix]
        except KeyError:
            bound = ", ".join(sorted(self._namespaces)) or "none"
            local = token.text.rpartition(":")[2]
            anywhere = "*" if local == "*" else f"*:{local}"
            self._fail(
                f"{UNBOUND_PREFIX} instead of {prefix!r} (bound: {bound})",
                token,
                hint=f"write {anywhere} for any namespace, or bind the prefix: "
                f"--namespace {prefix}=URI, or 'namespaces' in the file or call",
            )

    def _kind_test(self) -> KindTest:
        kind = self._advance().text
        self._advance()
        target = None
        if kind == "processing-instruction" and self._peek().kind == "literal":
            target = self._advance().text[1:-1]
        if not self._take(")"):
            hint = "the text of an element with all below it is string(a)"
            self._fail(f"')' after '{kind}('", hint=hint if kind == "text" else None)
        return KindTest(kind, target)  # type: ignore[arg-type]  # It is one of _KINDS.

    def _predicate_list(self) -> tuple[Expression, ...]:
        predicates = []
        while self._looking_at("["):
            column = self._advance().column
            self._predicates = self._within("predicates_max", self._predicates + 1)
            self._predicate_depth = self._within("predicate_depth_max", self._predicate_depth + 1)
            predicates.append(self._expression())
            self._predicate_depth -= 1
            self._expect("]", f"an operator, or ']' to close the '[' in column {column}")
        return tuple(predicates)

    # Primaries.

    def _primary(self) -> Expression:
        token = self._peek()
        if token.kind == "literal":
            return Literal(self._advance().text[1:-1])
        if token.kind == "number":
            return Number(plain_number(self._advance().text))
        if self._take("("):
            expression = self._expression()
            self._expect(")", f"an operator, or ')' to close the '(' in column {token.column}")
            return expression
        if token.kind == "name":
            return self._call()
        return self._fail("a path, a value or a function")

    def _call(self) -> Call:
        token = self._advance()
        function = FUNCTIONS.get(token.text)
        if function is None:
            hint = "XPath 1.0 has no functions with a prefix" if ":" in token.text else None
            self._fail(f"one of XPath 1.0's functions instead of {token.text!r}", token, hint)
        self._advance()
        arguments: list[Expression] = []
        if not self._take(")"):
            arguments.append(self._argument(token.text, 0))
            while self._take(","):
                arguments.append(self._argument(token.text, len(arguments)))
            self._expect(")", f"')' after the arguments of {token.text}()")
        most = len(arguments) if function.most is None else function.most
        if not function.least <= len(arguments) <= most:
            self._fail(
                f"{_arity(function.least, function.most)} for {token.text}(), not {len(arguments)}",
                token,
                hint=f"it is {token.text}({function.signature})",
            )
        return Call(token.text, tuple(arguments))

    def _argument(self, function: str, place: int) -> Expression:
        column = self._peek().column
        argument = self._expression()
        if place == 0 and FUNCTIONS[function].takes_nodes:
            self._must_be_nodes(argument, column, f"{function}()")
        return argument

    # Tokens and limits.

    def _must_be_nodes(self, expression: Expression, column: int, who: str) -> None:
        kind = type_of(expression)
        if kind is not Type.NODES:
            raise PatternError(
                self._text, column=column, expected=f"nodes for {who}, not a {kind.value}"
            )

    def _within(self, limit: str, given: int) -> int:
        allowed: int = getattr(self._limits, limit)
        if given > allowed:
            raise PatternLimitError(
                self._text, column=self._peek().column, limit=limit, given=given, allowed=allowed
            )
        return given

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _advance(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _looking_at(self, symbol: str) -> bool:
        token = self._tokens[self._at]
        return token.text == symbol and token.kind == "symbol"

    def _next_is(self, symbol: str) -> bool:
        token = self._tokens[self._at + 1]
        return token.text == symbol and token.kind == "symbol"

    def _take(self, symbol: str) -> bool:
        if self._looking_at(symbol):
            self._at += 1
            return True
        return False

    def _expect(self, symbol: str, expected: str) -> None:
        if not self._take(symbol):
            self._fail(expected)

    def _fail(self, expected: str, token: Token | None = None, hint: str | None = None) -> NoReturn:
        column = (token or self._peek()).column
        raise PatternError(self._text, column=column, expected=expected, hint=hint)


def _arity(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least} arguments"
    if least == most:
        return {0: "no argument", 1: "one argument"}.get(least, f"{least} arguments")
    return f"{least} to {most} arguments"


def plain_number(text: str) -> str:
    """A canonical spelling of a number that libxml2 reads as the same: ``05.0`` is ``5``."""
    whole, point, fraction = text.partition(".")
    if "e" in text.lower() or len(text) > _DIGITS_EXACT_MAX:
        return text
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0") if point else ""
    return f"{whole}.{fraction}" if fraction else whole
