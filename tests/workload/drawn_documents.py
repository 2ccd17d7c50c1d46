"""Documents drawn from a schema, and how large they are."""

from __future__ import annotations

from random import Random
from typing import Any

from lxml import etree

from twigcast.files.schemas import shipped_schema
from twigcast.language.dtd.schema import Schema
from twigcast.workload import (
    generate_document,
)

NEWS = shipped_schema("news")


def drawn(
    schema: Schema = NEWS,
    *,
    seed: int = 1,
    **settings: Any,  # noqa: ANN401 - whatever the generator takes
) -> etree._Element:
    return etree.fromstring(generate_document(schema, rng=Random(seed), **settings))


def size(root: etree._Element) -> int:
    return sum(1 for _ in root.iter())


def depth(root: etree._Element) -> int:
    return max(1 + sum(1 for _ in element.iterancestors()) for element in root.iter())
