"""Patterns (XPath), documents (XML) and schemas (DTD).

The lowest room: values and rules about them, no I/O, no clock, no chance. In reading order:

    xpath       an expression as written: tokens, syntax tree, advice where one is refused
    condition   conditions on nodes in one canonical form, and their texts
    translate   from syntax trees to conditions, and to exact necessary conditions
    pattern     patterns, the public class over all of it
    cautions    parts of an expression that are hardly ever meant
    document    bytes in, a checked tree out
    dtd         schemas: the shapes of documents of one kind
    records     one large document as a sequence of small ones
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
