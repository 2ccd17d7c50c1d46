"""``twigcast compact``: the many batches of a stream become few, and old ones are dropped.

What becomes of the tables is described in :mod:`twigcast.spark.stream.compaction`; here is only
what a user types and sees.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options.arguments import AsJson
from twigcast.cli.options.spark_session import Master, Settings, bindings
from twigcast.cli.output import write, write_json
from twigcast.cli.progress import Bar
from twigcast.display import counted

if TYPE_CHECKING:
    from twigcast.spark import Compaction

EXAMPLES = (
    "twigcast compact result/",
    "twigcast compact result/ --keep-days 90",
    "twigcast compact result/ --keep-batches 10000 --readers-hours 0",
)

_READERS_HOURS = 1.0


def compact(
    out: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", help="Where a stream writes its tables.", show_default=False
        ),
    ],
    keep_days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Drop batches that were finished longer ago."),
    ] = None,
    keep_batches: Annotated[
        int | None, typer.Option(metavar="N", help="Keep only so many, the last ones.")
    ] = None,
    readers_hours: Annotated[
        float,
        typer.Option(
            metavar="HOURS",
            help="How long files stay for readers when they are replaced or dropped.",
        ),
    ] = _READERS_HOURS,
    master: Master = None,
    setting: Settings = [],  # noqa: B006 (typer never changes it)
    as_json: AsJson = False,
) -> None:
    """Make the many batches of a stream few, and drop old ones.

    The rows stay, sorted by broker and subscription. The stream may go on meanwhile, and its
    tables may be read.
    """
    from twigcast.spark import compact as compact_batches
    from twigcast.spark import start_session
    from twigcast.spark.session.session import no_session_left
    from twigcast.spark.stream.compaction import check_finished

    settings = dict(bindings(setting, "--setting", "KEY=VALUE"))
    check_finished(out)
    with Bar() as bar, no_session_left():
        bar.show("starting Spark", 0, None)
        spark = start_session(master, settings=settings)
        bar.show("compacting batches", 0, None)
        result = compact_batches(
            spark,
            out,
            keep_days=keep_days,
            keep_batches=keep_batches,
            readers_hours=readers_hours,
        )
    if as_json:
        write_json(asdict(result))
    else:
        _write_result(result)


def _write_result(result: Compaction) -> None:
    write(_line("batches", result.batches, f"in {counted(result.folders, 'folder')} of each table"))
    write(_line("compacted", result.compacted, "written anew, sorted"))
    write(_line("dropped", result.dropped, "batches that were too old"))
    write(_line("removed", result.removed, "folders of each table that nobody reads any more"))
    write(_line("versions", result.versions, "records of subscriptions that no batch needs"))


def _line(name: str, number: int, more: str) -> str:
    return f"{name:<14}{number:>12,}  {more}"
