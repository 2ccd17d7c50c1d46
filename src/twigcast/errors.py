"""The errors of Twigcast, by whose fault they are.

Every error that Twigcast raises on purpose derives from :class:`TwigcastError`, so a caller
can fence off the whole library with one ``except``. Its children name those who should act:
the author of an expression (:class:`PatternError`), of a document (:class:`DocumentError`), of
a schema (:class:`SchemaError`), the far broker (:class:`ProtocolError`), or the program that called
us (:class:`UsageError`). Whatever is refused for its size is also a :class:`LimitError` that names
the limit. What nobody foresaw is an :class:`InternalError` (:mod:`twigcast.door`).

A text is a short conversation: what, where, what to do. It is one line, whatever a stranger called
a document: control characters are spelled out. The parts are fields as well, as they came, so that
a table or a user interface need not take the sentence apart again. Broken invariants of Twigcast
are assertions, not errors.
"""

from __future__ import annotations

from twigcast.display import one_line

__all__ = [
    "DocumentError",
    "DocumentLimitError",
    "FloodingWarning",
    "InternalError",
    "LimitError",
    "PatternError",
    "PatternLimitError",
    "ProtocolError",
    "ProtocolLimitError",
    "SchemaError",
    "SchemaLimitError",
    "TwigcastError",
    "UsageError",
]

_TEXT_SHOWN_MAX = 120
"""How much of a long expression an error repeats: enough to recognise it, short enough to read."""

_REASON_SHOWN_MAX = 500
"""Characters of a stranger's text that an error repeats."""


class TwigcastError(Exception):
    """The base of every error raised on purpose. Its text is one line (:func:`one_line`)."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(one_line(arg) if isinstance(arg, str) else arg for arg in args))


class LimitError(TwigcastError):
    """Something is larger than a named limit allows.

    ``limit`` names the limit, ``given`` says how much there was, ``allowed`` how much may be.
    """

    limit: str
    given: int
    allowed: int


class PatternError(TwigcastError):
    """A text is not an XPath expression that Twigcast can take as a subscription.

    ``hint`` says what to write instead, where that is known.

    >>> print(PatternError("/stock//[1]", column=9, expected="a name or '*' after '//'"))
    pattern '/stock//[1]', column 9: expected a name or '*' after '//'
    >>> print(PatternError("a == 1", column=3, expected="'=', not '=='", hint="write a = 1"))
    pattern 'a == 1', column 3: expected '=', not '=='; write a = 1
    """

    def __init__(self, text: str, *, column: int, expected: str, hint: str | None = None) -> None:
        self.text = text
        self.column = column
        self.expected = expected
        self.hint = hint
        super().__init__(f"pattern {_shown(text)}, column {column}: {self.reason}")

    @property
    def reason(self) -> str:
        """What was expected, and the hint: the error without the expression and the column."""
        return f"expected {self.expected}" + (f"; {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class DocumentError(TwigcastError):
    """A document cannot be read: it is not well-formed, or not in an encoding we take.

    >>> print(DocumentError("end tag 'b' does not fit", document="a.xml", line=3, column=7))
    document a.xml, line 3, column 7: end tag 'b' does not fit
    """

    def __init__(
        self,
        reason: str,
        *,
        document: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.reason = reason
        self.document = document
        self.line = line
        self.column = column
        super().__init__(f"{_place('document', document, line, column)}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class SchemaError(TwigcastError):
    """A DTD cannot be read: it does not parse, or asks for a module that was not given.

    >>> print(SchemaError("'(' is never closed", module="news.dtd", line=12))
    schema news.dtd, line 12: '(' is never closed
    """

    def __init__(self, reason: str, *, module: str | None = None, line: int | None = None) -> None:
        self.reason = reason
        self.module = module
        self.line = line
        super().__init__(f"{_place('schema', module, line, None)}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class ProtocolError(TwigcastError):
    """What came from a broker or a client is no message of ours: to be refused, and told to them.

    >>> print(ProtocolError("expected `int`, got `str`", place="session"))
    message, session: expected `int`, got `str`
    """

    def __init__(self, reason: str, *, place: str | None = None) -> None:
        if len(reason) > _REASON_SHOWN_MAX:
            reason = reason[:_REASON_SHOWN_MAX] + "…"
        self.reason = reason
        self.place = place
        where = f"message, {place}" if place else "message"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class PatternLimitError(PatternError, LimitError):
    """An expression is over one of the limits for patterns."""

    def __init__(self, text: str, *, column: int, limit: str, given: int, allowed: int) -> None:
        self.limit, self.given, self.allowed = limit, given, allowed
        PatternError.__init__(
            self, text, column=column, expected=f"at most {allowed:,} ({limit}), got {given:,}"
        )


class DocumentLimitError(DocumentError, LimitError):
    """A document is over one of the limits for documents."""

    def __init__(
        self,
        what: str,
        *,
        limit: str,
        given: int,
        allowed: int,
        document: str | None = None,
        line: int | None = None,
    ) -> None:
        self.limit, self.given, self.allowed = limit, given, allowed
        reason = f"{what}: {given:,} where at most {allowed:,} are allowed ({limit})"
        DocumentError.__init__(self, reason, document=document, line=line)


class SchemaLimitError(SchemaError, LimitError):
    """A DTD is over one of the limits for schemas."""

    def __init__(
        self, what: str, *, limit: str, given: int, allowed: int, module: str | None = None
    ) -> None:
        self.limit, self.given, self.allowed = limit, given, allowed
        reason = f"{what}: {given:,} where at most {allowed:,} are allowed ({limit})"
        SchemaError.__init__(self, reason, module=module)


class ProtocolLimitError(ProtocolError, LimitError):
    """A message is over one of the limits for what crosses a link."""

    def __init__(
        self, what: str, *, limit: str, given: int, allowed: int, place: str | None = None
    ) -> None:
        self.limit, self.given, self.allowed = limit, given, allowed
        reason = f"{what}: {given:,} where at most {allowed:,} are allowed ({limit})"
        ProtocolError.__init__(self, reason, place=place)


class UsageError(TwigcastError):
    """The calling program did something that cannot be meant; the text says what to do instead."""


class InternalError(TwigcastError):
    """Something failed that nobody foresaw: a bug in Twigcast, or a machine without memory.

    ``doing`` says what was being done, ``cause`` what happened; the exception itself is
    ``__cause__``. It concerns the one document, expression or message that was being worked on:
    whoever works on many sets that one aside, counts and logs it, and goes on.

    >>> print(InternalError("matching a document", KeyError("b")))
    matching a document failed: KeyError: 'b'; this is a bug in Twigcast: please report it, with \
the input
    """

    def __init__(self, doing: str, cause: BaseException) -> None:
        self.doing = doing
        self.cause = _in_one_line(cause)
        advice = "the machine has no memory left for it"
        if not isinstance(cause, MemoryError):
            advice = "this is a bug in Twigcast: please report it, with the input"
        super().__init__(f"{doing} failed: {self.cause}; {advice}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class FloodingWarning(UserWarning):
    """Documents go over every link, because nothing was advertised that they keep to.

    Deliveries are right, but the chosen strategy saves nothing for these documents. Whoever means
    it ignores the warning:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FloodingWarning)
    """


def _shown(text: str) -> str:
    """The expression in quotes, cut in the middle of nowhere rather than flooding a log."""
    if len(text) > _TEXT_SHOWN_MAX:
        text = text[:_TEXT_SHOWN_MAX] + "…"
    return repr(text)


def _in_one_line(error: BaseException) -> str:
    """An exception in one line, whatever its text holds."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (its text is a stranger's code, and may fail as well)
        text = "its text cannot be read"
    text = one_line(text[: _REASON_SHOWN_MAX + 1])
    if len(text) > _REASON_SHOWN_MAX:
        text = text[:_REASON_SHOWN_MAX] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _place(kind: str, name: str | None, line: int | None, column: int | None) -> str:
    place = f"{kind} {name}" if name else kind
    if line is not None:
        place += f", line {line}"
    if column is not None:
        place += f", column {column}"
    return place


def _rebuild(
    kind: type[TwigcastError], args: tuple[object, ...], fields: dict[str, object]
) -> TwigcastError:
    """Unpickle an error whose constructor takes more than the text (they cross processes)."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error
