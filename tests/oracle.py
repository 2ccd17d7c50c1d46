"""The oracle of matching: libxml2, asked in its own words.

Nothing of ours stands between the expression and libxml2 here, so that a mistake in our parser,
our canonical forms or our engines cannot hide.
"""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree


def oracle_tree(content: bytes) -> etree._ElementTree:
    parser = etree.XMLParser(
        resolve_entities="internal",  # type: ignore[arg-type]  # Newer than the stubs.
        load_dtd=False,
        no_network=True,
        attribute_defaults=False,
        strip_cdata=True,
    )
    tree = etree.fromstring(content, parser).getroottree()
    for entry in parser.error_log.filter_from_errors():  # lxml looks at the last entry only
        raise etree.XMLSyntaxError(entry.message, entry.type, entry.line, entry.column)  # type: ignore[call-arg]  # The stubs know none.
    return tree


def oracle(xpath: str, content: bytes, namespaces: Mapping[str, str] | None = None) -> bool:
    """``boolean(xpath)`` at the document node. A relative path must have got its ``//`` already.

    lxml starts at the root element, hence the detour through a predicate on the document node.
    """
    return by_oracle(xpath, oracle_tree(content), namespaces)


def by_oracle(
    xpath: str, tree: etree._ElementTree, namespaces: Mapping[str, str] | None = None
) -> bool:
    """The same for a tree. It may have texts that are lost in writing it, such as empty ones."""
    evaluate = etree.XPath(
        f"boolean(/self::node()[boolean({xpath})])", namespaces=dict(namespaces or {}), regexp=False
    )
    return bool(evaluate(tree))
