"""The command line: ``twigcast VERB``.

    program        all verbs in one program, and how it ends
    verbs          the verbs that fit one file each
    match          ``match``: answers, jobs, folders of subscribers
    run            ``run``: the pipeline on Spark, once or as a stream
    generate       ``generate``: patterns, documents, topologies
    demo           ``demo``: a feed and its subscribers, with a report
    options        options that several verbs share
    output         results, notes and complaints
    output_files   files that the command line writes
    progress       bars for work that takes long
    engine_note    one line for users of a slower engine
    help           help in whole sentences
    interrupts     Ctrl-C while there is work
    starting       Ctrl-C and SIGTERM while the program starts

Starting up imports nothing that a verb may not need: lxml, Spark and the rest are imported inside
the verbs. The rest takes a moment, too, and whoever presses Ctrl-C in it gets no traceback.
"""

from __future__ import annotations

from twigcast.cli.starting import end_while_starting

__all__ = ["main"]


def main() -> None:
    """Run the program and leave with its exit code."""
    end_while_starting()
    from twigcast.cli.program import run_program

    run_program()
