"""The forms of messages, events and effects: each is read as it was written."""

from __future__ import annotations

import dataclasses
from typing import get_args

from hypothesis import given

from tests.routing.wire_values import (
    EFFECTS,
    EFFECTS_BY_KIND,
    EVENTS,
    EVENTS_BY_KIND,
    MESSAGES,
    refused,
)
from twigcast.routing import events
from twigcast.routing.events import (
    Arrive,
    Change,
    Effect,
    Event,
    Message,
)
from twigcast.routing.wire import messages as wire_forms
from twigcast.routing.wire.frames import (
    decode_effect,
    decode_event,
    encode,
    refusal,
)


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert decode_event(encode(event)) == event
    assert refusal(event) is None


@given(EFFECTS)
def test_an_effect_is_read_as_it_was_written(effect: Effect) -> None:
    assert decode_effect(encode(effect)) == effect


def test_every_event_and_every_effect_is_tried_here() -> None:
    assert EVENTS_BY_KIND.keys() == set(get_args(Event))
    assert EFFECTS_BY_KIND.keys() == set(get_args(Effect))
    assert set(get_args(Message)) == {Change, Arrive}


def test_the_fields_of_a_form_are_those_of_its_kind() -> None:
    for kind, form in wire_forms._FORM_OF.items():
        assert form.__struct_fields__ == tuple(field.name for field in dataclasses.fields(kind))
    told = set(wire_forms.ChangeForm.__struct_fields__) - {"part", "last"}
    assert told == {field.name for field in dataclasses.fields(events.Change)}


@given(MESSAGES)
def test_what_a_broker_says_is_no_event_and_no_effect(message: Message) -> None:
    content = encode(message)
    assert "Invalid value" in refused(content, decode_event).reason
    assert "Invalid value" in refused(content, decode_effect).reason


@given(EVENTS)
def test_what_a_client_says_a_broker_may_not_say(event: Event) -> None:
    assert "Invalid value" in refused(encode(event)).reason
