"""What can be said: patterns (XPath), documents (XML), schemas (DTD).

The floor of the house: values and rules about them, no I/O, no clock, no chance. In reading order:

    lexer, syntax, parse    what was written: XPath 1.0 as a tree
    hints                   what to write instead of what is refused
    condition, build        what it means: conditions on nodes, in one canonical form
    rooted, meaning         from the one to the other
    necessary               what an index can know of the rest
    text                    back to text, canonical or for libxml2
    values                  what a test of a value passes
    pattern                 all of it behind one door
    document, schema        what patterns are asked of, and what documents can look like
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
