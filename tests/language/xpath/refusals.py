"""What is refused as an expression, and what the error advises."""

from __future__ import annotations

import pytest

from twigcast.errors import PatternError
from twigcast.language import Pattern

LOWER = "'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'"
UPPER = "'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'"


def refused(text: str, namespaces: dict[str, str] | None = None) -> PatternError:
    with pytest.raises(PatternError) as caught:
        Pattern.parse(text, namespaces)
    assert caught.value.reason in str(caught.value)
    return caught.value


def mistake_in(text: str) -> PatternError | None:
    try:
        Pattern.parse(text)
    except PatternError as error:
        return error
    return None


def rewritten(text: str) -> str:
    """The expression that the error advises; it must be one."""
    hint = refused(text).hint
    assert hint is not None, text
    for start, end in (("write ", ""), ("did you mean ", "?")):
        if hint.startswith(start) and hint.endswith(end):
            found = hint.removeprefix(start).removesuffix(end)
            Pattern.parse(found)
            return found
    raise AssertionError(hint)
