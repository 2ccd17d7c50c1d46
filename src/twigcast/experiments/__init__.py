"""Experiments of the papers, set up again: each gives plain figures, and a table to read.

Each is a module to be run by its name, ``python -m twigcast.experiments.piggyback``, so nothing is
imported here.
"""

from __future__ import annotations

__all__: list[str] = []
