"""``twigcast run``: the pipeline on Spark, from files to tables.

Without ``--master`` Spark runs inside this process, on all cores. What the run leaves behind is
described in :mod:`twigcast.spark.tables`; here is only what a user types and sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.cli.options import AsJson, Engine, FileNames
from twigcast.cli.progress import Bar
from twigcast.cli.speaking import REFUSED, counted, write, write_json
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from twigcast.spark import Run

EMBEDDED = "local[*]"
"""What Spark calls itself when it runs in this process, on all cores."""

EXAMPLES = (
    "twigcast run --subscriptions subs.csv --publications feed/ --out result/",
    "twigcast run --subscriptions s.csv --publications feed.parquet --content-column xml --out r/",
)


Subscriptions: TypeAlias = Annotated[
    str,
    typer.Option(metavar="FILE", help="One XPath per line, .csv or .jsonl.", show_default=False),
]
PublicationPaths: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="PATH",
        help="Folder, archive, or a table that Spark can read (may be repeated).",
        show_default=False,
    ),
]
Out: TypeAlias = Annotated[
    str, typer.Option(metavar="FOLDER", help="Where the tables go.", show_default=False)
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="What Spark calls the kind of table: parquet, json, …"),
]
ReaderOptions: TypeAlias = Annotated[
    list[str],
    typer.Option(metavar="KEY=VALUE", help="For Spark's reader (may be repeated)."),
]


def run(
    subscriptions: Subscriptions,
    publications: PublicationPaths,
    out: Out,
    format: Format = None,
    option: ReaderOptions = [],  # noqa: B006 (typer never changes it)
    content_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table's column of documents.")
    ] = None,
    document_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table's column of their names.")
    ] = None,
    files: FileNames = ["*.xml"],  # noqa: B006 (likewise)
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Tasks that the documents are shared out to.")
    ] = None,
    master: Annotated[
        str, typer.Option(metavar="URL", help="A Spark cluster, or local[CORES].")
    ] = EMBEDDED,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the tables of an earlier run.")
    ] = False,
    engine: Engine = "auto",
    as_json: AsJson = False,
) -> None:
    """Match documents against subscriptions on Spark.

    Writes the tables deliveries, dead_letters, rejected and metrics as Parquet, and prints what is
    in them.
    """
    from twigcast.spark import Publications, run_batch, start_session

    source = Publications(
        publications,
        format=format,
        options=_options(option),
        content_column=content_column,
        document_column=document_column,
        patterns=files,
    )
    with Bar() as bar:
        bar.show("starting Spark", 0, None)
        # An embedded Spark is better left to the run: it starts it once all else is in order.
        spark = None if master == EMBEDDED else start_session(master)
        outcome = run_batch(
            subscriptions,
            source,
            out,
            spark=spark,
            engine=engine,
            partitions=partitions,
            overwrite=overwrite,
            progress=lambda told: bar.show(told.stage, told.done, told.total),
        )
    if as_json:
        write_json({**asdict(outcome), "started": outcome.started.isoformat()})
    else:
        for line in _summary(outcome):
            write(line)
    if not outcome.all_accepted:
        raise typer.Exit(REFUSED)


def _options(given: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for binding in given:
        key, equals, value = binding.partition("=")
        if not (key and equals):
            raise UsageError(f"--option takes KEY=VALUE, such as header=true, not {binding!r}")
        options[key] = value
    return options


def _summary(outcome: Run) -> Iterator[str]:
    """What went in, what came out and where it lies, and how long it took."""
    size = f"{outcome.bytes / 1e6:,.1f} MB"
    yield f"{'documents':<14}{outcome.documents:>12,}  {size}"
    yield f"{'subscriptions':<14}{outcome.subscriptions:>12,}  engine {outcome.engine}"
    for table in ("deliveries", "dead_letters", "rejected"):
        yield f"{table:<14}{getattr(outcome, table):>12,}  {outcome.out.rstrip('/')}/{table}"
    steps = ", ".join(f"{step} {took:.1f}" for step, took in outcome.seconds.items())
    tasks = f"{counted(outcome.partitions, 'task')}, {counted(outcome.workers, 'worker')}"
    yield f"{'seconds':<14}{sum(outcome.seconds.values()):>12.1f}  {steps} ({tasks})"
