"""Names that documents may have and libxml2 does not take in expressions.

The fifth edition of XML 1.0 allows many more letters in names. libxml2 reads documents by the fifth
edition, and expressions by the fourth.
"""

from __future__ import annotations

import pytest
from lxml import etree

from tests.engines import EVERY_ENGINE
from twigcast import Matcher, explain

NAMES = ["\u017f", "\u0133", "a\u498c", "\U0001d51e", "a-b·\U000e0100"]
DOCUMENT = "<r><{0} {0}='1'>x</{0}><{0}>y</{0}><n:{0} xmlns:n='urn:n'/></r>"
YES = [
    "//{0}",
    "/r/{0}[2]",
    "//{0}[@{0} = '1']",
    "count(//{0}) = 2",
    "//n:{0}",
    "count(//n:{0}) = 1",
    "//*:{0}[3]",
    "//r[last() > 0 or {0}]",
    "//{0}/following-sibling::n:{0}",
    "//{0}[@{0}][last()]",
]
NO = ["//{0}[3]", "/{0}", "//{0}[. = 'z']", "//n:{0}[@{0}]", "count(//{0}) = 3"]


@pytest.mark.parametrize("name", NAMES)
def test_libxml2_reads_such_a_name_in_a_document_and_not_in_an_expression(name: str) -> None:
    assert etree.fromstring(f"<{name}/>").tag == name
    with pytest.raises(etree.XPathError):
        etree.XPath(name)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("name", NAMES)
def test_such_a_name_is_matched_like_any_other(engine: str, name: str) -> None:
    matcher = Matcher(engine=engine)
    for number, expression in enumerate(YES + NO):
        matcher.add(number, expression.format(name), {"n": "urn:n"})
    assert matcher.match(DOCUMENT.format(name)) == list(range(len(YES)))


@pytest.mark.parametrize("name", NAMES)
def test_such_a_name_is_found_and_explained(name: str) -> None:
    document = DOCUMENT.format(name)
    assert explain(f"//{name}[2]", document).matches
    assert not explain(f"//{name}[3]", document).matches
    found = Matcher({"two": f"//{name}[2]"}).find(document)
    assert [node.text for node in found["two"].nodes] == ["y"]
