"""Parser of XPath 2.0, 3.0 and 3.1 that rewrites expressions in XPath 1.0.

A recursive-descent parser like :mod:`twigcast.language.xpath.parser`, but for a larger language and
with another result: each production returns the text of an equivalent expression in XPath 1.0
(:class:`~twigcast.language.xpath.hints.pieces.Piece`), and each construct that XPath 1.0 lacks is
noted as a :class:`~twigcast.language.xpath.hints.departures.Departure`. It also accepts operators
of other languages (``==``, ``&&``, ``in``), which people write by habit.

Variables are replaced by their values. In ``some $x in p satisfies $x/q`` the value is the context
node of a predicate, ``p[q]``; so other expressions there must not depend on the outer context, or
there is no rewrite.

The work is bounded by the length of the text, a depth and a budget of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from twigcast.language.xpath.hints.calls import function_call, function_departure
from twigcast.language.xpath.hints.cursor import Cursor
from twigcast.language.xpath.hints.departures import Departure, later, slip
from twigcast.language.xpath.hints.operators import COMPARISON, Applied, OperatorRule, operator_at
from twigcast.language.xpath.hints.pieces import (
    CONTEXT_NODE,
    PATH,
    PRIMARY,
    SIGN,
    NoRewriteError,
    Piece,
    PieceKind,
    all_true,
    any_true,
    as_boolean,
    as_nodes,
    as_value,
    closed,
    each_below,
    filtered,
    literal,
    mapped,
    negated,
    number,
    piece,
    sequence,
)
from twigcast.language.xpath.hints.tokens import UnreadableError, string_value
from twigcast.language.xpath.lexer import Token

_DEPTH_MAX = 64
"""Expressions inside each other, operands of operators included."""

_KIND_TESTS: Final = frozenset({"node", "text", "comment", "processing-instruction"})
_LATER_KIND_TESTS: Final = frozenset(
    {"element", "attribute", "document-node", "item", "namespace-node", "schema-element"}
)
_NO_SEQUENCES: Final = "write one comparison for each value, with 'or' between them"
_POSITION: Final = re.compile(r"\b(?:position|last)\(")
_QUANTIFIED: Final = {
    "some": "a predicate does the same: p[q]",
    "every": "a predicate does the same: not(p[not(q)])",
}


class Reader(Cursor):
    """The state of one parse: position, values of variables, departures."""

    def __init__(
        self, tokens: list[Token], departures: list[Departure], *, bars_mean_or: bool
    ) -> None:
        super().__init__(tokens)
        self._departures = departures
        self._bars_mean_or = bars_mean_or
        self._depth = 0
        self._contexts = [True]
        """For each enclosing predicate, whether its context is that of the rewritten text."""
        self._variables: dict[str, tuple[int, Piece]] = {}

    def whole(self) -> str:
        """The expression in XPath 1.0.

        Raises :class:`NoRewriteError` where there is none, :class:`UnreadableError` where the
        syntax is unknown here.
        """
        found = self._items()
        if self.peek().kind != "end":
            raise UnreadableError
        return as_boolean(found).text

    # Expressions.

    def _items(self, opened: Token | None = None) -> Piece:
        """One expression, or a sequence of several after an opening parenthesis."""
        items = [self._single()]
        if not self.looking_at(","):
            return items[0]
        column = (opened or self.peek()).column
        what = "'(…, …)' is a sequence"
        self._departures.append(later(column, what, advice=_NO_SEQUENCES))
        while self.take(","):
            items.append(self._single())
        return sequence(items)

    def _single(self) -> Piece:
        self._go_deeper()
        token = self.peek()
        keyword = token.text if token.kind == "name" else ""
        if keyword in _QUANTIFIED and self.next_is("$"):
            found = self._quantified(keyword)
        elif keyword in {"for", "let"} and self.next_is("$"):
            found = self._bound(keyword)
        elif keyword == "if" and self.next_is("("):
            found = self._choice()
        else:
            found = self._binary(1)
        self._depth -= 1
        return found

    def _binary(self, lowest: int) -> Piece:
        self._go_deeper()
        left = self._unary()
        while True:
            operator = self._operator(lowest)
            if operator is None:
                self._depth -= 1
                return left
            column = self.peek().column
            for _ in range(operator.token_count):
                self.advance()
            departure = operator.departure(column)
            if departure is not None:
                self._departures.append(departure)
            with self._blamed(departure):
                left = self._applied(operator, left)

    def _operator(self, lowest: int) -> OperatorRule | None:
        found = operator_at(self.peek(), self.peek(1), bars_mean_or=self._bars_mean_or)
        return found if found is not None and found.precedence >= lowest else None

    def _applied(self, operator: OperatorRule, left: Piece) -> Piece:
        if operator.applied is Applied.TO_TYPE:
            assert operator.with_type is not None
            return operator.with_type(left, self._type())
        if operator.applied is Applied.TO_CALL:
            name = self.advance()
            if name.kind != "name" or not self.looking_at("("):
                raise UnreadableError
            return self._called(name, [left])
        if operator.applied is Applied.TO_EACH:
            with self._inside(own_context=True):
                return mapped(left, self._binary(operator.precedence + 1))
        right = self._binary(operator.precedence + 1)
        if operator.is_comparison and self._comparison_follows():
            raise UnreadableError
        assert operator.between is not None
        return operator.between(left, right)

    def _comparison_follows(self) -> bool:
        following = self._operator(1)
        return following is not None and following.is_comparison

    def _unary(self) -> Piece:
        if self._is_bare_not():
            token = self.advance()
            self._departures.append(slip(token.column, "'not(…)'", f"'{token.text}'"))
            return negated(as_boolean(self._binary(COMPARISON)))
        minus = 0
        signs = 0
        while self.looking_at("-", "+"):
            minus += self.advance().text == "-"
            signs += 1
        if not signs:
            return self._path()
        operand = as_value(self._path())
        text = "-" * (minus % 2) + closed(operand, SIGN)
        return piece(text, PieceKind.NUMBER, SIGN, fixed=operand.fixed)

    def _is_bare_not(self) -> bool:
        """Whether a ``not`` stands before a path without parentheses, or a ``!``."""
        if self.looking_at("!"):
            return True
        following = self.peek(1)
        keyword = self.peek().text.lower() == "not" and self.peek().kind == "name"
        operator = operator_at(following, self.peek(2), bars_mean_or=False)
        return keyword and operator is None and (following.kind == "name" or following.text == "@")

    # Choices, quantifiers and variables.

    def _choice(self) -> Piece:
        departure = later(
            self.advance().column,
            "'if (…) then … else …' is an expression",
            advice="write (a and b) or (not(a) and c)",
        )
        self._departures.append(departure)
        self.expect("(")
        condition = self._items()
        self.expect(")")
        self.expect("then")
        then = self._single()
        otherwise = sequence([])
        if self.peek().text == "else":
            self.advance()
            otherwise = self._single()
        with self._blamed(departure):
            parts = (as_boolean(condition), then, otherwise)
            fixed = all(part.fixed for part in parts)
            return Piece("", PieceKind.CHOICE, PRIMARY, fixed, parts)

    def _quantified(self, keyword: str) -> Piece:
        departure = later(
            self.advance().column,
            f"'{keyword} … satisfies …' is an expression",
            advice=_QUANTIFIED[keyword],
        )
        self._departures.append(departure)
        with self._blamed(departure):
            return self._quantified_rest(keyword)

    def _quantified_rest(self, keyword: str) -> Piece:
        """The rest from a variable on; variables after a comma are nested in those before."""
        self._go_deeper()
        name = self._variable()
        self.expect("in")
        among = self._single()
        if among.kind is PieceKind.SEQUENCE and all(map(_is_value, among.parts)):
            found = self._spelt_out(keyword, name, among.parts)
        else:
            base = as_nodes(among)
            with self._inside(own_context=False), self._bound_to(name, CONTEXT_NODE):
                body = as_boolean(self._quantified_body(keyword))
            if keyword == "some":
                found = filtered(base, body)
            else:
                found = negated(filtered(base, negated(body)))
        self._depth -= 1
        return found

    def _quantified_body(self, keyword: str) -> Piece:
        if self.take(","):
            return self._quantified_rest(keyword)
        self.expect("satisfies")
        return self._single()

    def _spelt_out(self, keyword: str, name: str, values: tuple[Piece, ...]) -> Piece:
        """The body, once for each value."""
        start = self.place
        bodies: list[Piece] = []
        for value in values:
            self.return_to(start)
            with self._bound_to(name, value):
                bodies.append(as_boolean(self._quantified_body(keyword)))
        if not bodies:
            raise NoRewriteError
        return any_true(*bodies) if keyword == "some" else all_true(*bodies)

    def _bound(self, keyword: str) -> Piece:
        version = "2.0" if keyword == "for" else "3.0"
        advice = "a path does the same: p/q" if keyword == "for" else "write the value itself"
        what = f"'{keyword} … return …' is an expression"
        departure = later(self.advance().column, what, version, advice)
        self._departures.append(departure)
        with self._blamed(departure):
            return self._for_rest() if keyword == "for" else self._let_rest()

    def _let_rest(self) -> Piece:
        """The rest from a variable on; variables after a comma may refer to those before."""
        self._go_deeper()
        name = self._variable()
        self.expect(":=")
        with self._bound_to(name, self._single()):
            if self.take(","):
                found = self._let_rest()
            else:
                self.expect("return")
                found = self._single()
        self._depth -= 1
        return found

    def _for_rest(self) -> Piece:
        name = self._variable()
        self.expect("in")
        base = as_nodes(self._single())
        with self._inside(own_context=False), self._bound_to(name, CONTEXT_NODE):
            self.expect("return")
            body = self._single()
        return mapped(base, body)

    # Paths.

    def _path(self) -> Piece:
        if self.looking_at("/", "//"):
            lead = self.advance().text
            if lead == "/" and not self._begins_operand():
                return piece("/", PieceKind.NODES, SIGN, fixed=True)
            return self._steps(lead, fixed=True)
        if self._begins_step():
            self._use_context()
            return self._steps("", fixed=False)
        base = self._postfix()
        if not self.looking_at("/", "//"):
            return base
        slash = self.advance().text
        base = as_nodes(base)
        if base.text == ".":
            return self._steps("" if slash == "/" else ".//", fixed=False)
        return self._steps(closed(base, PATH) + slash, fixed=base.fixed)

    def _steps(self, text: str, *, fixed: bool) -> Piece:
        """The steps behind ``text``, which is empty or ends in a slash."""
        while self._begins_step():
            text += self._step()
            if not self.looking_at("/", "//"):
                return piece(text, PieceKind.NODES, PATH, fixed=fixed)
            text += self.advance().text
        if not self._begins_operand():
            raise UnreadableError
        return self._steps_of_any_kind(text, fixed=fixed)

    def _steps_of_any_kind(self, text: str, *, fixed: bool) -> Piece:
        """A parenthesis or call as a step: ``p/(a | b)``, ``p/lower-case(.)``."""
        departure = later(
            self.peek().column,
            "a parenthesis or a function as a step of a path is a construct",
            advice="write the paths in full: a/b | a/c for a/(b | c), string(a/b) for a/b/string()",
        )
        self._departures.append(departure)
        self._go_deeper()
        with self._inside(own_context=True):
            inner = self._postfix()
        with self._blamed(departure):
            base = text.removesuffix("/")
            if inner.kind not in {PieceKind.NODES, PieceKind.SEQUENCE}:
                if not base or base.endswith("/") or self.looking_at("/"):
                    raise NoRewriteError
                return mapped(piece(base, PieceKind.NODES, PATH, fixed=fixed), inner)
            found = each_below(text, as_nodes(inner), fixed=fixed)
        if self.looking_at("/", "//"):
            slash = self.advance().text
            return self._steps(closed(found, PATH) + slash, fixed=fixed)
        return found

    def _begins_operand(self) -> bool:
        token = self.peek()
        return token.kind in {"name", "number", "literal"} or token.text in {
            "(", ".", "..", "@", "*", "$",
        }  # fmt: skip

    def _begins_step(self) -> bool:
        token = self.peek()
        if token.kind == "symbol":
            return token.text in {".", "..", "@", "*"}
        if token.kind != "name":
            return False
        return not self.next_is("(") or token.text in _KIND_TESTS | _LATER_KIND_TESTS

    def _step(self) -> str:
        token = self.peek()
        if self.take("."):
            if not self.looking_at("["):
                return "."
            self._departures.append(
                later(self.peek().column, "a predicate behind '.' is a construct")
            )
            return "self::node()" + self._predicates()
        if self.take(".."):
            if not self.looking_at("["):
                return ".."
            self._departures.append(
                later(self.peek().column, "a predicate behind '..' is a construct")
            )
            return "parent::node()" + self._predicates()
        axis = ""
        if self.take("@"):
            axis = "@"
        elif token.kind == "name" and self.next_is("::"):
            axis = self.advance().text + self.advance().text
        return self._node_test(axis) + self._predicates()

    def _node_test(self, axis: str) -> str:
        token = self.advance()
        if token.text == "*":
            return f"{axis}*"
        if token.kind != "name":
            raise UnreadableError
        if self.looking_at("(") and token.text in _KIND_TESTS:
            return axis + token.text + self._kind_argument(token)
        if self.looking_at("(") and token.text in _LATER_KIND_TESTS:
            return self._later_kind_test(axis, token)
        return axis + self._name(token)

    def _kind_argument(self, token: Token) -> str:
        self.expect("(")
        target = ""
        if token.text == "processing-instruction" and self.peek().kind in {"literal", "name"}:
            argument = self.advance()
            value = string_value(argument.text) if argument.kind == "literal" else argument.text
            target = literal(value).text
        self.expect(")")
        return f"({target})"

    def _later_kind_test(self, axis: str, token: Token) -> str:
        shown = {"element": "'*' or the name", "attribute": "'@*' or '@name'", "item": "node()"}
        advice = f"write {shown[token.text]}" if token.text in shown else None
        departure = later(token.column, f"'{token.text}()' is a test", advice=advice)
        self._departures.append(departure)
        self.expect("(")
        name = "*"
        if self.peek().kind == "name" or self.looking_at("*"):
            argument = self.advance()
            name = self._name(argument) if argument.kind == "name" else "*"
        self.expect(")")
        if token.text == "element":
            return f"{axis}{name}"
        if token.text == "attribute" and axis in {"", "@", "attribute::"}:
            return f"@{name}"
        if token.text == "item":
            return f"{axis}node()"
        raise NoRewriteError(departure)

    def _name(self, token: Token) -> str:
        if not token.text.startswith("Q{"):
            return token.text
        what = "'Q{uri}name' is the spelling"
        self._departures.append(later(token.column, what, "3.0", "write {uri}name"))
        return token.text[3:] if token.text.startswith("Q{}") else token.text[1:]

    def _predicates(self, *, by_position: bool = True) -> str:
        """Predicates; without positions after ``(p, q)``, whose order differs from ``p | q``."""
        text = ""
        while self.take("["):
            with self._inside(own_context=True):
                condition = self._items()
            self.expect("]")
            counts = condition.kind is PieceKind.NUMBER or _POSITION.search(condition.text)
            if counts and not by_position:
                raise NoRewriteError
            if condition.kind is not PieceKind.NUMBER:
                condition = as_boolean(condition)
            text += f"[{condition.text}]"
        return text

    # Primaries.

    def _postfix(self) -> Piece:
        base = self._primary()
        if not self.looking_at("["):
            return base
        ordered = base.kind is PieceKind.SEQUENCE and len(base.parts) > 1
        base = as_nodes(base)
        if base == CONTEXT_NODE:
            return piece("self::node()" + self._predicates(), PieceKind.NODES, PATH, fixed=False)
        text = closed(base, PRIMARY) + self._predicates(by_position=not ordered)
        return piece(text, PieceKind.NODES, PRIMARY, fixed=base.fixed)

    def _primary(self) -> Piece:
        token = self.advance()
        if token.kind == "literal":
            return literal(string_value(token.text))
        if token.kind == "number":
            return number(token.text)
        if token.text == "(":
            if self.take(")"):
                what = "'()' is the empty sequence"
                self._departures.append(
                    later(token.column, what, advice="to test that there is no p, write not(p)")
                )
                return sequence([])
            found = self._items(token)
            self.expect(")")
            return found
        if token.text == "$":
            return self._value_of(self._variable_name(), token)
        if token.kind == "name" and self.looking_at("("):
            return self._called(token, [])
        raise UnreadableError

    def _value_of(self, name: str, token: Token) -> Piece:
        found = self._variables.get(name)
        if found is None:
            expected = f"no variable: nothing gives ${name} a value"
            advice = f"write the value itself instead of ${name}"
            departure = Departure(token.column, expected, advice)
            self._departures.append(departure)
            raise NoRewriteError(departure)
        depth, value = found
        if not value.fixed and depth != len(self._contexts):
            raise NoRewriteError
        return value

    def _called(self, token: Token, arguments: list[Piece]) -> Piece:
        """A call; after ``=>`` the first argument is already in ``arguments``."""
        departure = function_departure(token)
        if departure is not None:
            self._departures.append(departure)
        self.expect("(")
        if not self.take(")"):
            arguments.append(self._single())
            while self.take(","):
                arguments.append(self._single())
            self.expect(")")
        with self._blamed(departure):
            if not arguments and token.text not in {"true", "false"}:
                self._use_context()
            return function_call(token.text, arguments)

    def _variable(self) -> str:
        self.expect("$")
        return self._variable_name()

    def _variable_name(self) -> str:
        token = self.advance()
        if token.kind != "name":
            raise UnreadableError
        return token.text

    def _type(self) -> str:
        """The name of a type: ``xs:integer``, ``element()``, with its occurrence indicator."""
        token = self.advance()
        if token.kind != "name":
            raise UnreadableError
        if self.take("("):
            while not self.take(")"):
                if self.peek().kind == "end":
                    raise UnreadableError
                self.advance()
        if self.looking_at("?"):
            self.advance()
        return token.text.removeprefix("xs:").removeprefix("xsd:")

    # Contexts and variables.

    @contextmanager
    def _inside(self, *, own_context: bool) -> Iterator[None]:
        """Inside a predicate, which has a context node of its own, or the body of a quantifier."""
        self._contexts.append(own_context)
        yield
        self._contexts.pop()

    @contextmanager
    def _bound_to(self, name: str, value: Piece) -> Iterator[None]:
        """The scope in which a variable has a value."""
        before = self._variables.get(name)
        self._variables[name] = len(self._contexts), value
        yield
        if before is None:
            del self._variables[name]
        else:
            self._variables[name] = before

    @contextmanager
    def _blamed(self, departure: Departure | None) -> Iterator[None]:
        """Record this construct as the reason if there is no rewrite."""
        try:
            yield
        except NoRewriteError as error:
            if error.because is None:
                error.because = departure
            raise

    def _go_deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise UnreadableError

    def _use_context(self) -> None:
        if not self._contexts[-1]:
            raise NoRewriteError


def _is_value(part: Piece) -> bool:
    """Whether an item of a sequence is one value that does not depend on the context."""
    return part.fixed and part.kind is not PieceKind.NODES
