"""Patterns (XPath), documents (XML) and schemas (DTD).

The lowest room: values and rules about them, no I/O, no clock, no chance. In reading order:

    xpath       an expression as written: tokens, syntax tree, advice where one is refused
    condition   what an expression asks of a node, in one canonical form, and back to text
    translate   from syntax trees to conditions, and to the exact part of what is not exact
    pattern     all of it behind one door: what a subscriber asks for
    document    bytes in, a checked tree out
    dtd         schemas: what documents of one kind may look like
"""

from twigcast.language.document.parse import LIBRARY_LIMITS, LIVE_LIMITS, Document, DocumentLimits
from twigcast.language.dtd.schema import Schema, SchemaLimits
from twigcast.language.pattern import PATTERN_LIMITS, Pattern, PatternLimits

__all__ = [
    "LIBRARY_LIMITS",
    "LIVE_LIMITS",
    "PATTERN_LIMITS",
    "Document",
    "DocumentLimits",
    "Pattern",
    "PatternLimits",
    "Schema",
    "SchemaLimits",
]
