"""What errors say: one of each public class, from a cause that people meet."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final

import twigcast
from tests.goldens.golden import Golden, normalised, working_in
from twigcast import Document, DocumentLimits, Matcher, Network, Pattern, Schema
from twigcast.door import door
from twigcast.errors import TwigcastError
from twigcast.language import SchemaLimits
from twigcast.routing import Router
from twigcast.routing.wire.frames import WireLimits, decode

_LINE: Final = {"links": [["north", "south"]]}


@door("doing something")
def _fail_unforeseen() -> None:
    raise RuntimeError("nobody foresaw this")


_CAUSES: Final[tuple[tuple[str, Callable[[], object]], ...]] = (
    ("PatternError", lambda: Pattern.parse("/stock//[1]")),
    ("PatternError", lambda: Pattern.parse("//a[b eq 'x']")),
    ("PatternError", lambda: Pattern.parse("//p:a")),
    ("PatternError", lambda: Matcher(["//a", "//b["])),
    ("PatternLimitError", lambda: Pattern.parse("/a" * 40_000)),
    ("DocumentError", lambda: Matcher(["//a"], engine="streaming").match("<a>\n<b></a>")),
    ("DocumentError", lambda: Matcher(["//a"]).match("nowhere.xml")),
    (
        "DocumentLimitError",
        lambda: Document.parse(b"<a><a/></a>", limits=DocumentLimits(depth_max=1)),
    ),
    ("SchemaError", lambda: Schema.parse(b"<!ELEMENT a (b,>")),
    (
        "SchemaLimitError",
        lambda: Schema.parse(
            b"<!ELEMENT a ANY> <!ELEMENT b ANY>", limits=SchemaLimits(elements_max=1)
        ),
    ),
    ("ProtocolError", lambda: decode(b"T\x01\x91\xa6change")),
    ("ProtocolError", lambda: decode(b"T\x02\x90")),
    ("ProtocolLimitError", lambda: decode(bytes(20), WireLimits(frame_bytes_max=10))),
    ("UsageError", lambda: Matcher(engine="magic")),
    ("UsageError", lambda: Matcher(7)),  # type: ignore[arg-type]
    ("UsageError", lambda: Matcher.from_buffer(b"something else")),
    ("UsageError", lambda: Matcher.from_file("nowhere.txt")),
    ("UsageError", lambda: Network(_LINE).subscribe("east", "ann", "//a")),
    ("UsageError", lambda: Network({"links": [["a", "b"], ["c", "d"]]})),
    ("UsageError", lambda: Router("a", "magic")),
    ("UsageError", lambda: Network(_LINE, "prefix(depth=0)")),
    ("InternalError", _fail_unforeseen),
    ("FloodingWarning", lambda: Network(_LINE, "advertised").publish("north", "<a/>")),
)


def _told(folder: Path) -> str:
    lines: list[str] = []
    with working_in(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, cause in _CAUSES:
            error = _caught(cause)
            lines += [_lineage(error), f"    {error}"]
            lines += [f"    .{key} = {value!r}" for key, value in _fields(error)]
            assert type(error).__name__ == name
    abstract = {"LimitError", "TwigcastError"}  # others are of these kinds
    public = {name for name in twigcast.__all__ if name.endswith(("Error", "Warning"))}
    assert public == {name for name, _ in _CAUSES} | abstract
    return normalised("\n".join(lines) + "\n", folder)


def _caught(cause: Callable[[], object]) -> TwigcastError | Warning:
    try:
        cause()
    except (TwigcastError, Warning) as error:
        return error
    raise AssertionError("nothing went wrong")


def _lineage(error: BaseException) -> str:
    """The class and all that an ``except`` may name to catch it."""
    return " < ".join(kind.__name__ for kind in type(error).__mro__ if kind is not object)


def _fields(error: BaseException) -> list[tuple[str, object]]:
    return [
        (key, value if not isinstance(value, str) or len(value) < _LONG else f"{value[:_LONG]}…")
        for key, value in sorted(vars(error).items())
    ]


_LONG: Final = 200

GOLDENS: Final = (Golden("errors.txt", _told),)
