"""The command line: ``twigcast VERB``, one file per verb.

:mod:`~twigcast.cli.program` gathers the verbs and decides how they end;
:mod:`~twigcast.cli.output` says which words go where. Starting up imports nothing that a verb may
not need: lxml, Spark and the rest are imported inside the verbs. The rest takes a moment, too, and
whoever presses Ctrl-C in it is not told where Python was.
"""

from __future__ import annotations

from twigcast.cli.starting import end_while_starting

__all__ = ["main"]


def main() -> None:
    """Run the program and leave with its exit code."""
    end_while_starting()
    from twigcast.cli.program import run_program

    run_program()
