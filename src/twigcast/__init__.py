"""Twigcast delivers XML documents to the people who asked for them.

A subscriber registers an XPath expression; a publisher hands in XML documents; each document
reaches exactly the subscribers whose expression it satisfies:

    >>> import twigcast
    >>> matcher = twigcast.Matcher({"prices": "/news/body//price[. > 10]", "all": "/news"})
    >>> matcher.match("<news><body><price>12</price></body></news>")
    ['all', 'prices']

The names below are the public face. Importing the package computes nothing: each name is
fetched from its room when it is first asked for, so that ``twigcast --help`` and a Spark worker
pay only for what they use.
"""

from __future__ import annotations

# From typing it would be most of the time that an import of the package takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from twigcast.covering import Advertisement, CoverIndex, covers, overlaps
    from twigcast.errors import (
        DocumentError,
        DocumentLimitError,
        FloodingWarning,
        InternalError,
        LimitError,
        PatternError,
        PatternLimitError,
        ProtocolError,
        ProtocolLimitError,
        SchemaError,
        SchemaLimitError,
        TwigcastError,
        UsageError,
    )
    from twigcast.files import read_documents, read_subscriptions
    from twigcast.language import Document, DocumentLimits, Pattern, Schema
    from twigcast.library.explaining import explain
    from twigcast.library.matcher import Matcher
    from twigcast.library.network import Network
    from twigcast.matching import Decision, Explanation, Finding, Findings

__version__ = "0.1.0"

__all__ = [
    "Advertisement",
    "CoverIndex",
    "Decision",
    "Document",
    "DocumentError",
    "DocumentLimitError",
    "DocumentLimits",
    "Explanation",
    "Finding",
    "Findings",
    "FloodingWarning",
    "InternalError",
    "LimitError",
    "Matcher",
    "Network",
    "Pattern",
    "PatternError",
    "PatternLimitError",
    "ProtocolError",
    "ProtocolLimitError",
    "Schema",
    "SchemaError",
    "SchemaLimitError",
    "TwigcastError",
    "UsageError",
    "__version__",
    "covers",
    "explain",
    "overlaps",
    "read_documents",
    "read_subscriptions",
]

_ROOMS = {
    "covering": ("Advertisement", "CoverIndex", "covers", "overlaps"),
    "files": ("read_documents", "read_subscriptions"),
    "language": ("Document", "DocumentLimits", "Pattern", "Schema"),
    "library.explaining": ("explain",),
    "library.matcher": ("Matcher",),
    "library.network": ("Network",),
    "matching": ("Decision", "Explanation", "Finding", "Findings"),
}
"""Which room a public name lives in; all others are errors."""

_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'twigcast' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"twigcast.{_HOME.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
