"""A schema that is like another one, but not the same.

YAK 6.4 mixes into its workload subscriptions and publications of kinds that *resemble* the ten
kinds the brokers care for, and of kinds that have nothing to do with them: near misses and strange
interests. Here a share of the elements gets other names, consistently in all content models; a
pattern or a document drawn from the varied schema then agrees with the original one wherever no
renamed element is involved. The root is renamed last, so that it differs only if everything does.
"""

from __future__ import annotations

from random import Random
from typing import assert_never

from twigcast.errors import UsageError
from twigcast.language.dtd.schema import (
    Anything,
    Child,
    Choice,
    Content,
    ElementDeclaration,
    Empty,
    Mixed,
    Particle,
    Schema,
    Sequence,
)


def vary(schema: Schema, rng: Random, share: float) -> Schema:
    """A schema in which this share of the elements is replaced by others of the same build.

    With 0 it is the same schema, with 1 no name is left. UsageError if ``share`` is not between.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"share must be between 0 and 1, not {share}")
    names = [name for name in schema.elements if name != schema.root]
    rng.shuffle(names)
    if schema.root is not None:
        names.append(schema.root)
    taken = {*schema.elements, *schema.undeclared}
    replacements: dict[str, str] = {}
    for name in names[: round(share * len(names))]:
        replacements[name] = _new_name(name, taken)
        taken.add(replacements[name])
    root = None if schema.root is None else replacements.get(schema.root, schema.root)
    return Schema(
        tuple(
            ElementDeclaration(
                replacements.get(declaration.name, declaration.name),
                _replaced(declaration.content, replacements),
                declaration.attributes,
            )
            for declaration in schema.declarations
        ),
        root,
    )


def _new_name(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"


def _replaced(content: Content, replacements: dict[str, str]) -> Content:
    match content:
        case Empty() | Anything():
            return content
        case Mixed(names):
            return Mixed(tuple(replacements.get(name, name) for name in names))
        case Child() | Sequence() | Choice():
            return _replaced_particle(content, replacements)
        case _:
            assert_never(content)


def _replaced_particle(particle: Particle, replacements: dict[str, str]) -> Particle:
    if isinstance(particle, Child):
        return Child(replacements.get(particle.name, particle.name), particle.occurs)
    parts = tuple(_replaced_particle(part, replacements) for part in particle.parts)
    return type(particle)(parts, particle.occurs)
