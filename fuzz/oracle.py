"""libxml2's own opinion of a document: taken or refused, and which expressions hold.

Nothing of ours stands between. What counts is its whole log: any message of the level of an error
refuses a document, wherever in the log it stands. The one exception is a reference to an entity
that only a DTD that nobody reads can have declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _ElementTree

__all__ = ["Question", "holds", "question", "tree_of"]

_UNDECLARED: Final = (etree.ErrorTypes.WAR_UNDECLARED_ENTITY, etree.ErrorLevels.ERROR)
"""The one exception. Where there is no DTD to read, such a reference is a fatal error."""

_Error = tuple[int, int]
_SILENT: Final[_Error] = (0, etree.ErrorLevels.FATAL)
"""What was refused before libxml2 had anything to tell."""

Question = Callable[[Any], object]


def tree_of(content: bytes) -> _ElementTree | None:
    """The tree of a document, or None where libxml2 has an error to tell."""
    tree, errors = _read(content)
    if not errors:
        return tree
    if any(error != _UNDECLARED for error in errors):
        return None
    _, errors = _read(content, resolve_entities=False)
    if errors:
        return None
    tree, errors = _read(content, recover=True)
    return tree if all(error == _UNDECLARED for error in errors) else None


def question(xpath: str, namespaces: Mapping[str, str] | None = None) -> Question:
    """``boolean(xpath)`` at the document node, ready to be asked. A path has its ``//`` already."""
    expression = f"boolean(/self::node()[boolean({xpath})])"
    return cast(
        "Question", etree.XPath(expression, namespaces=dict(namespaces or {}), regexp=False)
    )


def holds(question: Question, tree: _ElementTree) -> bool:
    """What libxml2 says."""
    return bool(question(tree))


def _read(content: bytes, **options: Any) -> tuple[_ElementTree | None, list[_Error]]:  # noqa: ANN401
    """The tree, and all errors on the way to it, by type and level."""
    parser = etree.XMLParser(
        **{
            "resolve_entities": "internal",
            "load_dtd": False,
            "no_network": True,
            "attribute_defaults": False,
            "strip_cdata": True,
            **options,
        }
    )
    tree = None
    with suppress(etree.XMLSyntaxError, ValueError, AttributeError):
        tree = etree.fromstring(content, parser).getroottree()
    errors = [
        (entry.type, entry.level)
        for entry in parser.error_log
        if entry.level >= etree.ErrorLevels.ERROR
    ]
    return tree, errors or ([] if tree is not None else [_SILENT])
