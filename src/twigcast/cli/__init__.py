"""The command line: ``twigcast VERB``, one file per verb.

:mod:`~twigcast.cli.program` gathers the verbs and decides how they end;
:mod:`~twigcast.cli.speaking` says which words go where. Starting up imports nothing that a verb may
not need: lxml, Spark and the rest are imported inside the verbs.
"""

from __future__ import annotations

from twigcast.cli.program import app, main

__all__ = ["app", "main"]
