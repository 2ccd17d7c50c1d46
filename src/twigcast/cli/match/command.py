"""``twigcast match``: which subscriptions match which documents, here and now.

No Spark, no broker: the quickest way to an answer, and the one that all others must equal. A
document that cannot be read is refused by name, and so is a line that is no subscription; all
others are answered. On request documents are put into folders by subscriber
(:mod:`~twigcast.cli.match.filing`), shared out to several workers
(:mod:`~twigcast.cli.match.jobs`), or taken as they arrive in a folder
(:mod:`twigcast.files.documents.arrivals`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.engine_note import slow_engine
from twigcast.cli.interrupts import end_on_request
from twigcast.cli.match.answers import Answers
from twigcast.cli.match.filing import filing_into
from twigcast.cli.options.arguments import (
    AsJson,
    DocumentCostMax,
    Documents,
    Engine,
    FileNames,
    Record,
    ResidualCostMax,
    Subscriptions,
)
from twigcast.cli.options.document_limits import LimitOptions, check_number
from twigcast.cli.options.grouped import grouped
from twigcast.cli.options.namespaces import Namespaces, bindings
from twigcast.cli.options.subscriptions import read_rules
from twigcast.cli.output import REFUSED, clock, complain_of_all, quoted, write_note
from twigcast.cli.progress import Bar
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.cli.match.jobs import Deciders
    from twigcast.files import PublicationLimits, Rejected, SubscriptionFile
    from twigcast.language import DocumentLimits
    from twigcast.language.records.selector import RecordSelector

JOBS_MAX = 256
"""More workers than any machine has cores; each holds documents that were read ahead."""

EXAMPLES = (
    "twigcast match subscriptions.txt news.xml",
    "twigcast match subscriptions.csv feed/ archive.zip --json",
    "twigcast match subscriptions.csv inbox/ --watch --move-to sorted/",
    "twigcast match subscriptions.txt dump.xml.gz --record '*:page'",
)


@grouped
def match(
    subscriptions: Subscriptions,
    documents: Documents,
    files: FileNames = ["*.xml"],  # noqa: B006 (typer never changes it)
    record: Record = None,
    namespace: Namespaces = [],  # noqa: B006 (likewise)
    copy_to: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Put a copy into a folder for each subscriber there."),
    ] = None,
    move_to: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The same, and delete the document afterwards."),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Go on with files as they arrive in the folders."),
    ] = False,
    every: Annotated[
        float, typer.Option(min=0.05, metavar="SECONDS", help="How often --watch looks.")
    ] = 1.0,
    jobs: Annotated[
        int,
        typer.Option(min=0, max=JOBS_MAX, metavar="N", help="Workers that match at the same time."),
    ] = 1,
    limits: LimitOptions = LimitOptions(),
    residual_cost_max: ResidualCostMax = None,
    document_cost_max: DocumentCostMax = None,
    engine: Engine = "auto",
    as_json: AsJson = False,
) -> None:
    """Which subscriptions match which documents.

    Prints a line per document: its name, a tab, and the ids of the subscriptions that match. A
    document may be in a folder or archive; what cannot be read is named on standard error. With
    --record each record of a file is a document, called FILE#NUMBER@BYTE.
    """
    from twigcast.files.documents.publications import selector_of

    started = clock()
    bounds, costs = limits.of_documents(), (residual_cost_max, document_cost_max)
    if watch and not all(map(os.path.isdir, documents)):
        raise UsageError("--watch takes folders, in which documents arrive")
    if subscriptions == "-" and "-" in documents:
        raise UsageError("standard input cannot be both the subscriptions and a document")
    if record is not None and move_to is not None:
        raise UsageError("records are parts of a file, and can only be copied: use --copy-to")
    prefixes = bindings(namespace)
    wanted = Wanted(files, limits.of_files(), selector_of(record, prefixes))
    file = read_rules(subscriptions, prefixes)
    filing = filing_into(copy_to, move_to, documents, file, watched=watch)
    answers = Answers(file, filing, as_json)
    if engine == "auto" and (note := slow_engine()) is not None:
        write_note(note)
    with (
        Bar(beside_output=True) as bar,
        _deciders(file, engine, bounds, costs, jobs, bar) as deciders,
    ):
        rejected = _complain_of_rejected(subscriptions, deciders.rejected)
        if watch:
            _match_arrivals(documents, wanted, deciders, answers, bar, every)
        else:
            _match_all(documents, wanted, deciders, answers, bar)
    if not (watch or answers.documents):
        write_note(_nothing_there(files, record))
    answers.finish(since=started)
    if not watch and (rejected or answers.refused or answers.failed):
        raise typer.Exit(REFUSED)


@dataclass(frozen=True)
class Wanted:
    """What counts as a document, by the names that those who read have for it."""

    patterns: list[str]
    limits: PublicationLimits
    record: RecordSelector | None


def _nothing_there(files: list[str], record: str | None) -> str:
    text = f"No documents there: no file fits {' or '.join(files)}; --files chooses others."
    if record is not None:
        text += f" Or no element is {record}: NAME is one in no namespace, *:NAME one in any."
    return text


def _deciders(
    file: SubscriptionFile,
    engine: str,
    limits: DocumentLimits,
    costs: tuple[int | None, int | None],
    jobs: int,
    bar: Bar,
) -> Deciders:
    """Workers that know the subscriptions, as far as they are any."""
    from twigcast.cli.match.jobs import Deciders, MatcherBounds
    from twigcast.files import compile_subscriptions
    from twigcast.matching import Matcher
    from twigcast.matching.residual.libxml2 import COST_MAX, DOCUMENT_COST_MAX

    for option, cost in zip(("--residual-cost-max", "--document-cost-max"), costs, strict=True):
        check_number(option, cost)
    bounds = MatcherBounds(limits, costs[0] or COST_MAX, costs[1] or DOCUMENT_COST_MAX)
    matcher = Matcher(engine=engine, keep_texts=False, **bounds._asdict())
    step = bar.steps("reading subscriptions", len(file.subscriptions))

    def add(position: int, xpath: str, namespaces: Mapping[str, str]) -> None:
        matcher.add(position, xpath, namespaces)
        step()

    rejected = file.rejected + compile_subscriptions(file, add)
    return Deciders(matcher, jobs, rejected, bounds)


def _complain_of_rejected(path: str, rejected: tuple[Rejected, ...]) -> int:
    in_order = sorted(rejected, key=lambda one: one.line)
    texts = (f"{path}, {_place(one)}: {one.reason}, in {quoted(one.xpath)}" for one in in_order)
    return complain_of_all(texts, hint="twigcast check lists them")


def _place(one: Rejected) -> str:
    return f"line {one.line}" + (f", column {one.column}" if one.column is not None else "")


def _match_all(
    paths: list[str], wanted: Wanted, deciders: Deciders, answers: Answers, bar: Bar
) -> None:
    """Answer for the documents that are there, in the order given."""
    from twigcast.files.documents.publications import EntryKind, list_documents, opened_entries

    entries = list(list_documents(paths, **vars(wanted)))
    of_unknown_number = wanted.record or any(entry.kind is EntryKind.TAR for entry in entries)
    step = bar.steps("matching documents", None if of_unknown_number else len(entries))
    for answered in deciders.answers(opened_entries(entries, **vars(wanted))):
        step()
        answers.take(answered)


def _match_arrivals(
    folders: list[str],
    wanted: Wanted,
    deciders: Deciders,
    answers: Answers,
    bar: Bar,
    every: float,
) -> None:
    """Answer for the documents that are there, and for those that arrive, until Ctrl-C."""
    from twigcast.cli.match.jobs import WorkerGoneError
    from twigcast.files.documents.arrivals import WATCHED_FILES_MAX, Arrivals
    from twigcast.files.documents.publications import opened_entries

    patterns = wanted.patterns
    arrivals = Arrivals(folders, patterns=patterns, limits=wanted.limits)
    write_note(f"watching {', '.join(folders)} for {' or '.join(patterns)}; Ctrl-C ends")
    overflowing = False
    with end_on_request() as request:
        while not request.is_made():
            settled = opened_entries(arrivals.look(), **vars(wanted))
            bar.show("watching", answers.documents, None)
            try:
                for answered in deciders.answers(settled):
                    answers.take(answered)
                    if request.is_made():
                        break
            except WorkerGoneError:
                # A service manager asks all processes at once to end.
                if not request.is_made():
                    raise
            # Whoever reads along sees all answers before we wait.
            sys.stdout.flush()
            if arrivals.overflowing and not overflowing:
                write_note(
                    f"there are more than {WATCHED_FILES_MAX:,} files; those beyond are not seen"
                )
            overflowing = arrivals.overflowing
            request.wait(every)
    if sys.stderr.isatty():
        write_note()  # The terminal has shown ^C.
