"""All verbs in one program, and how it ends.

==========  ======================================================================
exit code   meaning
==========  ======================================================================
0           done
1           done, but some inputs were refused: each was named on standard error; or the
            answer is no, where --exit-code asks for that
2           it could not begin: wrong arguments, a missing file, something not installed
130         interrupted
141         whoever read our output has gone (``| head``); nothing is wrong
==========  ======================================================================

An error that Twigcast raises on purpose becomes one sentence on standard error. Any other is a
mistake of ours and keeps its traceback.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer

from twigcast import __version__
from twigcast.cli import (
    about,
    advertise,
    aggregate,
    check,
    covers,
    demo,
    doctor,
    explain,
    generate,
    generate_topology,
    match,
    run,
    simulate,
)
from twigcast.cli.help import Verb, VerbGroup
from twigcast.cli.interrupts import interrupt_again
from twigcast.cli.speaking import REFUSED, USAGE, complain
from twigcast.errors import TwigcastError, UsageError

__all__ = ["app", "main"]

_READER_GONE = 141
"""What a shell reports for a program that wrote into a closed pipe: 128 and SIGPIPE."""


_ORDER = (
    "match",
    "explain",
    "check",
    "covers",
    "aggregate",
    "advertise",
    "generate",
    "run",
    "simulate",
    "demo",
    "about",
    "doctor",
)


class Verbs(VerbGroup):
    """The verbs, with the errors of all of them turned into sentences and exit codes."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (typer keeps the type to itself)
        """Do what the verb does."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise typer.Exit(_READER_GONE) from None
        except TwigcastError as error:
            complain(str(error))
            raise typer.Exit(USAGE if isinstance(error, UsageError) else REFUSED) from None
        except OSError as error:
            # A full disk, a folder that went away: the machine's fault and not ours.
            complain(str(error))
            raise typer.Exit(USAGE) from None
        return answer

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 (likewise)
        """The verbs in the order of a first acquaintance."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    name="twigcast",
    cls=Verbs,
    no_args_is_help=True,
    # Plain help is quicker, and reads the same in a pipe.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"twigcast {__version__}")
        raise typer.Exit


@app.callback()
def twigcast(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Deliver XML documents to the people who asked for them.

    Data goes to standard output, everything else to standard error. First steps: twigcast demo
    """


def _example(*lines: str) -> str:
    """The end of a help text; the control letter keeps the lines as they are."""
    word = "Example:" if len(lines) == 1 else "Examples:"
    return "\b\n" + "\n".join([word, *(f"  {line}" for line in lines)])


app.command("match", cls=Verb, epilog=_example(*match.EXAMPLES))(match.match)
app.command("explain", cls=Verb, epilog=_example(*explain.EXAMPLES))(explain.explain)
app.command("check", cls=Verb, epilog=_example(*check.EXAMPLES))(check.check)
app.command("covers", cls=Verb, epilog=_example(*covers.EXAMPLES))(covers.covers)
app.command("aggregate", cls=Verb, epilog=_example(*aggregate.EXAMPLES))(aggregate.aggregate)
app.command("advertise", cls=Verb, epilog=_example(*advertise.EXAMPLES))(advertise.advertise)

_generate = typer.Typer(
    cls=VerbGroup,
    help="Draw patterns or documents from a DTD, or a topology.",
    no_args_is_help=True,
)
_generate.command("patterns", cls=Verb, epilog=_example(*generate.PATTERN_EXAMPLES))(
    generate.patterns
)
_generate.command("documents", cls=Verb, epilog=_example(*generate.DOCUMENT_EXAMPLES))(
    generate.documents
)
_generate.command("topology", cls=Verb, epilog=_example(*generate_topology.EXAMPLES))(
    generate_topology.topology
)
app.add_typer(
    _generate, name="generate", epilog=_example(*generate.EXAMPLES, generate_topology.EXAMPLES[0])
)

app.command("run", cls=Verb, epilog=_example(*run.EXAMPLES))(run.run)
app.command("simulate", cls=Verb, epilog=_example(*simulate.EXAMPLES))(simulate.simulate)
app.command("demo", cls=Verb, epilog=_example(*demo.EXAMPLES))(demo.demo)
app.command("about", cls=Verb, epilog=_example(*about.EXAMPLES))(about.about)
app.command("doctor", cls=Verb, epilog=_example(*doctor.EXAMPLES))(doctor.doctor)


def main() -> None:
    """Run the program and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale says: JSON is UTF-8, and no letter may stop us.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.unraisablehook = interrupt_again
    try:
        app()
    finally:
        _leave_quietly()


def _leave_quietly() -> None:
    """Point standard output at nothing if it takes no more.

    Python would flush it once more on the way out, and complain.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
