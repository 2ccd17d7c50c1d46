"""The public face: what a short program needs, fetched only when asked for, and documented."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import twigcast

NAMES = [name for name in twigcast.__all__ if name != "__version__"]
ERRORS = [name for name in NAMES if name.endswith("Error")]
CLASSES = ("CoverIndex", "Document", "Findings", "Matcher", "Network", "Pattern", "Schema")


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


def test_a_matcher_loads_no_router_and_no_file_reader() -> None:
    loaded = "[m for m in sys.modules if m in ('twigcast.files', 'twigcast.routing')]"
    program = f"import sys, twigcast; twigcast.Matcher(['//a']).match('<a/>'); print({loaded})"
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring_of_its_own_with_an_example(name: str) -> None:
    documented = vars(getattr(twigcast, name)).get("__doc__") or getattr(twigcast, name).__doc__
    assert documented
    assert not documented.startswith(f"{name}("), "made by dataclass, not by a person"
    assert name in ERRORS or ">>>" in documented


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_has_a_docstring(name: str) -> None:
    kind = getattr(twigcast, name)
    for called in dir(kind):
        if not called.startswith("_"):
            member = inspect.getattr_static(kind, called)
            if callable(member) or isinstance(member, property | classmethod | staticmethod):
                assert inspect.getdoc(getattr(kind, called)), f"{name}.{called}"


def test_what_a_short_program_needs_is_listed() -> None:
    needed = {"Advertisement", "CoverIndex", "Document", "DocumentLimits", "Matcher", "Network",
              "Pattern", "Schema", "covers", "explain", "overlaps", "read_documents",
              "read_subscriptions"}  # fmt: skip
    assert needed <= set(dir(twigcast))
