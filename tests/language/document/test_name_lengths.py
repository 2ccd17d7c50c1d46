"""Names and namespaces that are too long, wherever they stand."""

from __future__ import annotations

import pytest

from twigcast.errors import DocumentLimitError
from twigcast.language import (
    Document,
)

NAMED: dict[str, str] = {
    "element": "<a><%s/></a>",
    "attribute": "<a><b c='' %s=''/></a>",
    "prefix": "<a xmlns:%s='u'/>",
    "element with a prefix": "<a xmlns:p='u'><p:%s/></a>",
    "attribute with a prefix": "<a xmlns:p='u' p:%s=''/>",
    "namespace of an attribute": "<a xmlns:p='%s' p:b=''/>",
    "namespace of nothing": "<a xmlns:p='%s'/>",
    "namespace with blanks around": "<a xmlns \n = \n '%s'/>",
    "namespace behind an angle": "<a b='>' xmlns='%s'/>",
    "namespace by an entity": "<!DOCTYPE a [<!ENTITY e '%s'>]><a xmlns='&e;'/>",
    "namespace by a DTD": "<!DOCTYPE a [<!ATTLIST a xmlns CDATA '%s'>]><a/>",
    "element by an entity": "<!DOCTYPE a [<!ENTITY e '<b %s=\"\"/>'>]><a>&e;</a>",
}
"""Where a name or a namespace can stand."""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
@pytest.mark.parametrize("place", NAMED)
def test_no_name_or_namespace_is_too_long_wherever_it_stands(place: str, encoding: str) -> None:
    declaration = f"<?xml version='1.0' encoding='{encoding}'?>"
    letter = "u" if "namespace" in place else "é"  # a namespace is an address
    within, beyond = (
        (declaration + NAMED[place] % (letter * length)).encode(encoding)
        for length in (1_000, 1_001)
    )
    assert Document.parse(within).element_count
    with pytest.raises(DocumentLimitError) as caught:
        Document.parse(beyond)
    error = caught.value
    assert (error.limit, error.given, error.allowed) == ("name_length_max", 1_001, 1_000)


@pytest.mark.parametrize(
    "text",
    [
        "<a>{}</a>",
        "<a b='{}'/>",
        "<a><!-- it's {} --></a>",
        "<a><![CDATA[{} < {}]]></a>",
        "<?p {}?><a/>",
        "<!DOCTYPE a SYSTEM '{}'><a/>",
        "<!DOCTYPE a [<!ENTITY e '{}'>]><a>&e;</a>",
        "<a xmlns:{0:.900}='{0:.900}'><{0:.900}:{0:.900}/></a>",
    ],
)
def test_what_is_no_single_name_may_be_longer(text: str) -> None:
    assert Document.parse(text.format("x" * 2_000, "x" * 2_000).encode()).element_count
