"""Runs for tests of what they leave behind, without Spark."""

from __future__ import annotations

from pathlib import Path

from twigcast.spark.storage.batches import BatchOutput, Output, local_store

TABLES = ("deliveries", "metrics")


def write_tables(output: BatchOutput, content: str) -> None:
    """What Spark does: a folder for each table."""
    output.begin()
    for table in TABLES:
        folder = Path(output.location(table).removeprefix("file://"))
        folder.mkdir(parents=True)
        (folder / "part").write_text(f"{content} {table}")


def finish_run(out: Path, content: str, *, overwrite: bool = False) -> None:
    """A run from its beginning to its manifest."""
    output = replacing(out) if overwrite else Output(local_store(str(out)), TABLES).batch(0)
    write_tables(output, content)
    output.finish({"run": content})


def replacing(out: Path) -> BatchOutput:
    """The output of a run that takes the place of another."""
    return Output(local_store(str(out)), TABLES, existing="replace").batch(0)


def names_of(out: Path) -> list[str]:
    """All that lies in a folder."""
    return sorted(item.name for item in out.iterdir())
