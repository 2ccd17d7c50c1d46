"""Events, effects and messages in the shape in which they are written: plain values in arrays.

Each kind has a *form*, an array that begins with the name of the kind and goes on with its fields:

    Subscribe(7, "ann", Pattern("//a"))      ["subscribe", 7, "ann", "//a"]

Patterns and advertisements are their canonical texts (:mod:`~twigcast.routing.wire.texts`). A
:class:`ChangeForm` is a change or one part of it. Hints and annotations have forms of their own
(:mod:`~twigcast.routing.wire.annotations`). The forms are written out here, and not derived from
the values, since they are a contract between brokers: whoever alters one, once it was released,
begins a new version of the wire.

What is read comes from a stranger. MessagePack announces how long an array is before it comes, so
each array here has a bound, which is checked before there is memory for it. Nothing is read without
knowing its type beforehand, so nothing can be nested deeper than the forms are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Annotated, Final, TypeAlias, cast

from msgspec import Meta, Struct

from twigcast.covering import Advertisement
from twigcast.errors import UsageError
from twigcast.language import Pattern
from twigcast.routing import events
from twigcast.routing.annotations.annotations import Annotations
from twigcast.routing.wire.annotations import (
    AnnotationBytes,
    HintsForm,
    annotation_bytes,
    hints_form,
    read_annotations,
    read_hints,
)
from twigcast.routing.wire.texts import (
    advertisement_weight,
    pattern_weight,
    read_advertisement,
    read_pattern,
)

ARRAY_ITEMS_MAX: Final = 1_048_576
"""Items of any array: as many as the largest documents have paths, in 8 MB of memory."""

NAME_CHARACTERS_MAX: Final = 1_024
"""Characters of a name or an id: of a broker, a client, a publication. Addresses fit in."""

_Name: TypeAlias = Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)]
_Bounded = Meta(max_length=ARRAY_ITEMS_MAX)
_Names: TypeAlias = Annotated[tuple[_Name, ...], _Bounded]
_Texts: TypeAlias = Annotated[tuple[str, ...], _Bounded]
_Numbers: TypeAlias = Annotated[tuple[int, ...], _Bounded]


class Form(Struct, array_like=True, forbid_unknown_fields=True):
    """What all forms have in common: arrays with neither more nor fewer items than they have."""


class _Publication(Form):
    id: _Name
    origin: _Name
    publisher: _Name
    content: bytes


class ChangeForm(Form, tag="change"):
    """A change, or a part of it; the first part is number 1, and the last part says so."""

    session: int
    number: int
    part: int
    last: bool
    routes: _Texts
    withdrawn: _Texts
    advertisements: _Texts
    unadvertised: _Texts
    hints: HintsForm | None
    """With the last part alone."""

    @property
    def size(self) -> int:
        """How many patterns and advertisements there are."""
        return sum(map(len, (self.routes, self.withdrawn, self.advertisements, self.unadvertised)))

    @property
    def weight(self) -> int:
        """How much work it can be to read them, in characters of plain paths."""
        patterns = sum(map(pattern_weight, chain(self.routes, self.withdrawn)))
        advertisements = chain(self.advertisements, self.unadvertised)
        return patterns + sum(map(advertisement_weight, advertisements))


class ArriveForm(Form, tag="arrive"):
    """A publication with what travels beside it."""

    publication: _Publication
    flooded: bool
    paths: _Numbers | None
    annotations: AnnotationBytes | None


MessageForm: TypeAlias = ChangeForm | ArriveForm


class _LinkUp(Form, tag="link up"):
    link: _Name


class _LinkDown(Form, tag="link down"):
    link: _Name


class _Subscribe(Form, tag="subscribe"):
    subscription: int
    subscriber: _Name
    pattern: str


class _Unsubscribe(Form, tag="unsubscribe"):
    subscription: int


class _Advertise(Form, tag="advertise"):
    id: int
    publisher: _Name
    advertisement: str


class _Unadvertise(Form, tag="unadvertise"):
    id: int


class _Publish(Form, tag="publish"):
    publication: _Publication


class _Received(Form, tag="received"):
    link: _Name
    message: MessageForm


class _Decided(Form, tag="decided"):
    number: int
    links: _Names
    subscriptions: _Numbers
    undecided: _Numbers
    error: str | None
    position: int
    final: bool
    flooded: bool
    paths: Annotated[tuple[_Numbers, ...], _Bounded]
    annotations: Annotated[tuple[AnnotationBytes | None, ...], _Bounded]
    checks: int
    skipped: int
    is_unread: bool
    ignored: str | None
    lie: str | None


class _Garbled(Form, tag="garbled"):
    link: _Name
    reason: str


class _Woken(Form, tag="woken"):
    pass


EventForm: TypeAlias = (
    _LinkUp
    | _LinkDown
    | _Subscribe
    | _Unsubscribe
    | _Advertise
    | _Unadvertise
    | _Publish
    | _Received
    | _Decided
    | _Garbled
    | _Woken
)


class _Send(Form, tag="send"):
    link: _Name
    message: MessageForm


class _Deliver(Form, tag="deliver"):
    subscriber: _Name
    subscription: int
    publication: _Publication


class _Decide(Form, tag="decide"):
    number: int
    publication: _Publication
    came_by: _Name | None
    version: int
    flooded: bool
    paths: _Numbers | None
    annotations: AnnotationBytes | None


class _Refuse(Form, tag="refuse"):
    event: EventForm
    reason: str
    link: _Name | None


class _DeadLetter(Form, tag="dead letter"):
    publication: _Publication
    subscription: int | None
    reason: str


class _Accuse(Form, tag="accuse"):
    link: _Name
    publication: _Name
    reason: str


EffectForm: TypeAlias = _Send | _Deliver | _Decide | _Refuse | _DeadLetter | _Accuse

_FORM_OF: Final[dict[type, type[Form]]] = {
    events.Publication: _Publication,
    events.Arrive: ArriveForm,
    events.LinkUp: _LinkUp,
    events.LinkDown: _LinkDown,
    events.Subscribe: _Subscribe,
    events.Unsubscribe: _Unsubscribe,
    events.Advertise: _Advertise,
    events.Unadvertise: _Unadvertise,
    events.Publish: _Publish,
    events.Received: _Received,
    events.Decided: _Decided,
    events.Garbled: _Garbled,
    events.Woken: _Woken,
    events.Send: _Send,
    events.Deliver: _Deliver,
    events.Decide: _Decide,
    events.Refuse: _Refuse,
    events.DeadLetter: _DeadLetter,
    events.Accuse: _Accuse,
}
"""The form of each kind but changes; its fields have the names of the kind's own."""

_KIND_OF: Final[dict[object, Callable[..., object]]] = {
    form: kind for kind, form in _FORM_OF.items()
}
_REASONS: Final = frozenset({"reason", "error", "ignored", "lie"})
"""Fields with long texts; every other text is a name."""


# From values to forms.


def form_of(value: object) -> Form:
    """The form of a message, an event or an effect; UsageError if something is too long for it."""
    if isinstance(value, events.Change):
        return ChangeForm(
            value.session,
            value.number,
            part=1,
            last=True,
            routes=tuple(route.text for route in value.routes),
            withdrawn=tuple(route.text for route in value.withdrawn),
            advertisements=tuple(advertisement.text for advertisement in value.advertisements),
            unadvertised=tuple(advertisement.text for advertisement in value.unadvertised),
            hints=None if value.hints is None else hints_form(value.hints),
        )
    form = _FORM_OF[type(value)]
    fields = (_written(name, getattr(value, name)) for name in form.__struct_fields__)
    return cast("Callable[..., Form]", form)(*fields)


def _written(name: str, value: object) -> object:
    match value:
        case str():
            if len(value) > NAME_CHARACTERS_MAX and name not in _REASONS:
                raise UsageError(
                    f"{name}: a name has at most {NAME_CHARACTERS_MAX:,} characters to cross a "
                    f"link (NAME_CHARACTERS_MAX), not {len(value):,}"
                )
            return value
        case Pattern() | Advertisement():
            return value.text
        case Annotations():
            return annotation_bytes(value)
        case tuple():
            return _written_items(name, value)
        case None | bool() | int() | bytes():
            return value
        case _:
            return form_of(value)


def _written_items(name: str, items: tuple[object, ...]) -> tuple[object, ...]:
    if len(items) > ARRAY_ITEMS_MAX:
        raise UsageError(
            f"{name}: at most {ARRAY_ITEMS_MAX:,} items cross a link at once (ARRAY_ITEMS_MAX), "
            f"not {len(items):,}"
        )
    return tuple(_written(name, item) for item in items)


# From forms to values.


def value_of(form: Form) -> object:
    """The value of a form; ProtocolError, with the field, if a text in it has no meaning."""
    if isinstance(form, ChangeForm):
        return _change(form)
    fields = ((name, getattr(form, name)) for name in form.__struct_fields__)
    return _KIND_OF[type(form)](*(_read(name, value) for name, value in fields))


def _change(form: ChangeForm) -> events.Change:
    return events.Change(
        form.session,
        form.number,
        routes=_patterns("routes", form.routes),
        withdrawn=_patterns("withdrawn", form.withdrawn),
        advertisements=_advertisements("advertisements", form.advertisements),
        unadvertised=_advertisements("unadvertised", form.unadvertised),
        hints=None if form.hints is None else read_hints(form.hints),
    )


def _read(name: str, value: object) -> object:
    if isinstance(value, Form):
        return value_of(value)
    match name, value:
        case "pattern", str():
            return read_pattern(name, value)
        case "advertisement", str():
            return read_advertisement(name, value)
        case "annotations", bytes():
            return read_annotations(name, value)
        case "annotations", tuple():
            return tuple(_read(name, item) for item in value)
        case _:
            return value


def _patterns(name: str, texts: tuple[str, ...]) -> tuple[Pattern, ...]:
    return tuple(read_pattern(f"{name}[{place}]", text) for place, text in enumerate(texts))


def _advertisements(name: str, texts: tuple[str, ...]) -> tuple[Advertisement, ...]:
    return tuple(read_advertisement(f"{name}[{place}]", text) for place, text in enumerate(texts))
