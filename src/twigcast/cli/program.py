"""All verbs in one program, and how it ends.

==========  ======================================================================
exit code   meaning
==========  ======================================================================
0           done
1           done, but some inputs were refused: each was named on standard error; or the
            answer is no, where --exit-code asks for that; or something failed on the way:
            the disk was full, or nobody foresaw it
2           it could not begin: wrong arguments, a missing file, something not installed
130         interrupted
141         whoever read our output has gone (``| head``); nothing is wrong
143         asked to end by SIGTERM
==========  ======================================================================

An error becomes one sentence on standard error. One that Twigcast did not raise on purpose is a
mistake of ours (:class:`~twigcast.errors.InternalError`); with TWIGCAST_TRACEBACK set to anything,
its traceback stands in front of the sentence.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Abort, Exit
from typer._click.exceptions import ClickException

from twigcast import __version__
from twigcast.cli import demo
from twigcast.cli.generate import patterns_documents as generate
from twigcast.cli.generate import topology as generate_topology
from twigcast.cli.help import Verb, VerbGroup
from twigcast.cli.interrupts import INTERRUPTED, end_in_order, exit_code_of_signal, interrupt_again
from twigcast.cli.match import command as match
from twigcast.cli.output import REFUSED, USAGE, complain, write_note
from twigcast.cli.run import command as run
from twigcast.cli.verbs import (
    about,
    advertise,
    aggregate,
    check,
    compact,
    covers,
    doctor,
    explain,
    simulate,
)
from twigcast.display import one_line
from twigcast.door import door
from twigcast.errors import InternalError, TwigcastError, UsageError

_READER_GONE = 141
"""What a shell reports for a program that wrote into a closed pipe: 128 and SIGPIPE."""


_COMPLETION = "_TWIGCAST_COMPLETE"
"""Set by a shell that asks for completions."""

_TRACEBACK = "TWIGCAST_TRACEBACK"
"""Set in the environment, it shows where a mistake of ours happened."""

_ORDER = (
    "match",
    "explain",
    "check",
    "covers",
    "aggregate",
    "advertise",
    "generate",
    "run",
    "compact",
    "simulate",
    "demo",
    "about",
    "doctor",
)


class Verbs(VerbGroup):
    """The verbs, with the errors of all of them turned into sentences and exit codes."""

    def invoke(self, ctx: Any) -> None:  # noqa: ANN401 (typer keeps the type to itself)
        """Do what the verb does."""
        try:
            with door("the command"):
                ending = self._ending(ctx)
        except InternalError as error:
            _complain_of_ours(error)
            ending = Exit(REFUSED)
        except TwigcastError as error:
            complain(str(error))
            ending = Exit(USAGE if isinstance(error, UsageError) else REFUSED)
        if ending is not None:
            raise ending

    def _ending(self, ctx: Any) -> Exit | Abort | ClickException | None:  # noqa: ANN401 (likewise)
        """How it ended, if it was before the end; typer raises such endings."""
        try:
            with _interrupts_first():
                super().invoke(ctx)
            sys.stdout.flush()
        except (Exit, Abort) as ending:
            return ending
        except ClickException as error:
            error.message = one_line(error.message)
            return error
        except BrokenPipeError:
            return Exit(_READER_GONE)
        except OSError as error:
            # A full disk, a folder that went away: the machine's fault and not ours.
            complain(str(error))
            return Exit(REFUSED)
        return None

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
    heading = "Example:" if len(lines) == 1 else "Examples:"
    return "\b\n" + "\n".join([heading, *(f"  {line}" for line in lines)])


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
app.command("compact", cls=Verb, epilog=_example(*compact.EXAMPLES))(compact.compact)
app.command("simulate", cls=Verb, epilog=_example(*simulate.EXAMPLES))(simulate.simulate)
app.command("demo", cls=Verb, epilog=_example(*demo.EXAMPLES))(demo.demo)
app.command("about", cls=Verb, epilog=_example(*about.EXAMPLES))(about.about)
app.command("doctor", cls=Verb, epilog=_example(*doctor.EXAMPLES))(doctor.doctor)


def run_program() -> None:
    """Run the program and leave with its exit code."""
    _take_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the locale says: JSON is UTF-8, and no letter may stop us.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.unraisablehook = interrupt_again
    _hush_py4j()
    try:
        end_in_order()
        _run_verb()
    except KeyboardInterrupt:
        # Verbs end in order by themselves. This came before typer had built them, or behind them.
        raise SystemExit(exit_code_of_signal() or INTERRUPTED) from None


def _run_verb() -> None:
    """Run the verb, or what stands in front of it: the help, completion, and their making."""
    try:
        with door("the command"):
            _run_app()
    except InternalError as error:
        with suppress(OSError):
            if _COMPLETION in os.environ:
                complain(f"what the shell gives for completion cannot be read: {error.cause}")
                raise SystemExit(USAGE) from None
            _complain_of_ours(error)
        raise SystemExit(exit_code_of_signal() or REFUSED) from None


def _run_app() -> None:
    try:
        app()
    except OSError as error:  # the help has no place on a full disk
        _flushed()
        with suppress(OSError):
            complain(str(error))
        raise SystemExit(REFUSED) from None
    except SystemExit as ending:
        if (code := exit_code_of_signal()) is not None:
            raise SystemExit(code) from None
        if _flushed() or ending.code:
            raise
        raise SystemExit(REFUSED) from None
    finally:
        _flushed()


def _take_standard_streams() -> None:
    """Make do without streams that were closed, and end if it is the one that answers go to.

    A file that is opened later would else get the number of a stream, and what others write there.
    """
    closed = [stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]
    for number in (number for number, is_closed in enumerate(closed) if is_closed):
        nowhere = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    if sys.stdout is None:
        complain("standard output is closed; send it to /dev/null if nobody is to read it")
        raise SystemExit(USAGE)


@contextmanager
def _interrupts_first() -> Iterator[None]:
    """Whatever fails because somebody has interrupted it is no failure."""
    try:
        yield
    except Exception as error:
        code = exit_code_of_signal()
        if code is None:
            raise
        raise Exit(code) from error


def _hush_py4j() -> None:
    """Silence py4j's warnings when Java ends, or a call of it is interrupted.

    It says some of that in nobody's name, and what matters of it is in our errors.
    """
    logging.getLogger("py4j").propagate = False
    logging.getLogger().addFilter(lambda record: Path(record.pathname).parent.name != "py4j")


def _complain_of_ours(error: InternalError) -> None:
    if os.environ.get(_TRACEBACK) and error.__cause__ is not None:
        for block in traceback.format_exception(error.__cause__):
            for line in block.rstrip("\n").split("\n"):
                write_note(line)
        complain(str(error))
    elif isinstance(error.__cause__, MemoryError):
        complain(str(error))  # There is nothing to report.
    else:
        complain(f"{error} and with what {_TRACEBACK}=1 shows")


def _flushed() -> bool:
    """Whether standard output has taken everything; else it is pointed at nothing.

    Python would flush it once more on the way out, and complain.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return True  # Whoever read has gone, and misses nothing.
        with suppress(OSError):
            complain(str(error))
        return False
    return True
