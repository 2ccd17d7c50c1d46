"""Explanations of matches, with documents that may be given by their paths."""

from __future__ import annotations

from collections.abc import Mapping

from twigcast.door import door
from twigcast.language import LIBRARY_LIMITS, Document, Pattern
from twigcast.language.document.content import Source
from twigcast.library.documents import opened
from twigcast.matching import Explanation
from twigcast.matching import explain as explain_document

__all__ = ["explain"]


@door("explaining a match")
def explain(
    xpath: str | Pattern,
    document: Source | Document,
    namespaces: Mapping[str, str] | None = None,
) -> Explanation:
    """Why the document satisfies the expression, or what is the first thing that fails.

    The document comes in any form that :meth:`Matcher.match` takes. Raises :class:`PatternError`
    or :class:`DocumentError` if one of them cannot be read.

    >>> print(explain("//order[@state = 'open']", "<feed><order state='new'/></feed>"))
    no match: //order[@state = 'open']
    predicate [@state = 'open'] holds for none of 1 node reached by //order
    closest: /feed/order (line 1)
    @state is 'new' there
    """
    if not isinstance(document, Document):
        content, name = opened(document, bytes_max=LIBRARY_LIMITS.bytes_max)
        document = Document.parse(content, name=name)
    return explain_document(xpath, document, namespaces)
