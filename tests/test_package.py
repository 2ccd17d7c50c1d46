"""The public face: about fifteen names, fetched only when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import twigcast


@pytest.mark.parametrize("name", twigcast.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(twigcast, name) is not None
    assert name in dir(twigcast)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Matchmaker'"):
        _ = twigcast.Matchmaker


def test_importing_the_package_loads_no_room() -> None:
    loaded = "[m for m in sys.modules if m.startswith(('twigcast.', 'lxml'))]"
    program = f"import sys, twigcast; print({loaded})"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
