"""Experiments of the papers, set up again: each gives plain figures, and a table to read."""

from __future__ import annotations
