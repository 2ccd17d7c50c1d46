"""The options of ``twigcast run``, and which of them go together.

A run is about four things, each with options of its own: where everything comes from and goes to,
the network, the stream, and Spark. Options that make no sense together are refused in one sentence,
before anything starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from twigcast.cli.options.completion import complete_plan, complete_strategy
from twigcast.cli.options.spark_session import Master, Settings, bindings
from twigcast.cli.output import write_note
from twigcast.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twigcast.cli.progress import Bar
    from twigcast.routing.topology.model import Tree
    from twigcast.spark import Pipeline

_LEFT_OUT_SHOWN = 4

Subscriptions: TypeAlias = Annotated[
    str,
    typer.Option(metavar="FILE", help="One XPath per line, .csv or .jsonl.", show_default=False),
]
PublicationPaths: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="PATH", help="Folder, archive, or a table that Spark can read (may be repeated)."
    ),
]
Out: TypeAlias = Annotated[
    str, typer.Option(metavar="FOLDER", help="Where the tables go.", show_default=False)
]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace the tables of an earlier run.")
]


@dataclass(frozen=True)
class TableOptions:
    """How documents stand in a table."""

    format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What Spark calls the kind of table: parquet, json, …"),
    ] = None
    option: Annotated[
        list[str], typer.Option(metavar="KEY=VALUE", help="For Spark's reader (may be repeated).")
    ] = field(default_factory=list)
    content_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table's column of documents.")
    ] = None
    document_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table's column of their names.")
    ] = None
    origin_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The table's column of brokers where they are published."
        ),
    ] = None


@dataclass(frozen=True)
class SparkOptions:
    """Where Spark runs, and how."""

    partitions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Tasks that the documents are shared out to."),
    ] = None
    master: Master = None
    setting: Settings = field(default_factory=list)


@dataclass(frozen=True)
class NetworkOptions:
    """The brokers, and how they route."""

    topology: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The brokers and their links, .json or .toml."),
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How brokers route, such as 'prefix(depth=3)'; else best.",
            autocompletion=complete_strategy,
        ),
    ] = None
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="BROKER", help="Where documents are published; else the first broker."
        ),
    ] = None
    advertise: Annotated[
        list[str],
        typer.Option(metavar="BROKER=DTD", help="What is published there (may be repeated)."),
    ] = field(default_factory=list)
    plan: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="fused: all brokers in each worker; hops: broker after broker.",
            autocompletion=complete_plan,
        ),
    ] = "fused"
    shards: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Parts that the subscriptions are split into."),
    ] = 1

    def check(self, *, origin_column: str | None) -> None:
        """Refuse what goes together with nothing."""
        given = {
            "--strategy": self.strategy,
            "--origin": self.origin,
            "--advertise": self.advertise,
            "--origin-column": origin_column,
            "--plan hops": self.plan == "hops",
        }
        for option, value in given.items():
            if value and self.topology is None:
                raise UsageError(f"{option} is about a network of brokers: add --topology FILE")

    def tree(self) -> Tree | None:
        """The links that documents travel along; links that are left out are named."""
        if self.topology is None:
            return None
        from twigcast.files.topologies import read_topology

        tree = read_topology(self.topology).tree()
        if tree.left_out:
            names = ["-".join(link.between) for link in tree.left_out[:_LEFT_OUT_SHOWN]]
            more = len(tree.left_out) - len(names)
            rest = f" and {more:,} more" if more else ""
            write_note(
                f"the links of {self.topology} make circles: documents travel along the minimum "
                f"spanning tree, without {', '.join(names)}{rest}"
            )
        return tree

    def pipeline(self, subscriptions: str, engine: str, bar: Bar) -> Pipeline:
        """The pipeline for this network; a :class:`UsageError` before Spark is needed."""
        from twigcast.spark import Pipeline

        return Pipeline(
            None,
            self.tree(),
            subscriptions,
            self.strategy or "best",
            plan=self.plan,
            shards=self.shards,
            engine=engine,
            origin=self.origin,
            advertisements=self.advertisements() or None,
            progress=lambda now: bar.show(now.stage, now.done, now.total),
        )

    def advertisements(self) -> dict[str, list[str]]:
        """Paths of DTDs by broker."""
        found: dict[str, list[str]] = {}
        for broker, path in bindings(self.advertise, "--advertise", "BROKER=DTD"):
            found.setdefault(broker, []).append(path)
        return found


@dataclass(frozen=True)
class StreamOptions:
    """Documents that keep arriving."""

    stream: Annotated[
        bool, typer.Option("--stream", help="Go on with what is new since the last time.")
    ] = False
    checkpoint: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where a stream keeps how far it has come.")
    ] = None
    every: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Wait for more, and look so often; else end when all is done.",
        ),
    ] = None
    changes: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where changes of subscriptions appear.")
    ] = None
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="DDL", help="Of a table, if there is none yet, such as 'content string'."
        ),
    ] = None
    kafka: Annotated[
        str | None, typer.Option(metavar="SERVERS", help="Kafka, such as localhost:9092.")
    ] = None
    topic_in: Annotated[
        str | None, typer.Option(metavar="NAME", help="The topic that documents come from.")
    ] = None
    topic_out: Annotated[
        str | None, typer.Option(metavar="NAME", help="The topic that deliveries are sent to.")
    ] = None

    def check(self, publications: Sequence[str], *, overwrite: bool) -> None:
        """Refuse what goes together with nothing."""
        if publications and self.topic_in:
            raise UsageError("documents come from --publications or from --topic-in, not from both")
        if not (publications or self.topic_in):
            raise UsageError("say where documents are: --publications PATH, or --topic-in of Kafka")
        if self.stream:
            self._check_stream(overwrite=overwrite)
            return
        for name, value in vars(self).items():
            if name != "stream" and value is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for streams: add --stream")

    def _check_stream(self, *, overwrite: bool) -> None:
        if self.checkpoint is None:
            raise UsageError("--stream needs --checkpoint FOLDER, to know how far it has come")
        if overwrite:
            raise UsageError(
                "--overwrite is not for streams, which go on where they were; to begin anew, give "
                "new folders with --out and --checkpoint"
            )
        topics = self.topic_in or self.topic_out
        if topics and not self.kafka:
            raise UsageError("topics need --kafka SERVERS, such as localhost:9092")
        if self.kafka and not topics:
            raise UsageError("--kafka needs --topic-in NAME, --topic-out NAME, or both")

    def settings(self, given: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Settings for Spark, with the connector to Kafka unless they name one."""
        settings = dict(given)
        if self.kafka and not settings.keys() & {"spark.jars", "spark.jars.packages"}:
            from twigcast.spark.storage.kafka import CONNECTOR

            settings["spark.jars.packages"] = CONNECTOR
        return settings
