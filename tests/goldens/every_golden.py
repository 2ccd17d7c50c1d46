"""All goldens, and what can be told of them here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from tests.goldens import (
    command_line,
    error_texts,
    public_names,
    simulations,
    stored_forms,
    tables,
    wire_frames,
)
from tests.goldens.golden import Golden, Need
from twigcast.matching.engines.native import AVAILABLE

EVERY_GOLDEN: Final[tuple[Golden, ...]] = (
    *public_names.GOLDENS,
    *stored_forms.GOLDENS,
    *wire_frames.GOLDENS,
    *tables.GOLDENS,
    *command_line.GOLDENS,
    *simulations.GOLDENS,
    *error_texts.GOLDENS,
)


def missing(golden: Golden) -> str | None:
    """What this machine lacks to tell a golden anew; None if nothing."""
    if golden.need is Need.KERNEL and not AVAILABLE:
        return "the kernel (the package twigcast-kernel) is not built"
    if golden.need in {Need.PYSPARK, Need.SESSION} and find_spec("pyspark") is None:
        return "pyspark is not installed"
    return None
