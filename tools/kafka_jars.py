"""Fetch Spark's connector for Kafka: ``.venv/bin/python tools/kafka_jars.py``.

It prints what ``spark.jars`` has to be, one line. The connector is no part of Spark, and not every
version of Spark has one that is published: with Spark 4.0, that of 4.0.0 works; with 4.1 to 4.3
that of 4.2.0, whose module for delegation tokens is missing, together with that of 4.0.0. Tests
get a Kafka broker in the same way.

Ivy fetches them, which comes with Spark, from where Ivy looks by itself. What was fetched stays in
the user's cache.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from twigcast.errors import UsageError
from twigcast.spark.session.java import cache_folder, find_java

FETCH_SECONDS_MAX = 300
"""Fetching a Kafka broker took 85 seconds; it happens once on a machine."""

CONNECT_MS_MAX = 10_000
READ_MS_MAX = 30_000
"""Where nobody answers by then, nothing can be had."""


TYPES = ("jar", "bundle")
"""What Maven calls a jar."""


class FetchError(Exception):
    """Jars cannot be had here; the text says which."""


@dataclass(frozen=True)
class Module:
    """A module as Maven knows it, without those of the modules it needs that are ``left_out``."""

    organisation: str
    name: str
    version: str
    left_out: tuple[str, ...] = ()

    @property
    def element(self) -> str:
        """The module in the words of Ivy."""
        excluded = "".join(f"<exclude module={quoteattr(name)}/>" for name in self.left_out)
        named = f"org={quoteattr(self.organisation)} name={quoteattr(self.name)}"
        return (
            f"<dependency {named} rev={quoteattr(self.version)} conf='default->default'>"
            f"{excluded}</dependency>"
        )


TOKENS = "spark-token-provider-kafka-0-10_2.13"

IN_SPARK = (
    "hadoop-client-api",
    "hadoop-client-runtime",
    "jsr305",
    "lz4-java",
    "scala-library",
    "scala-parallel-collections_2.13",
    "slf4j-api",
    "snappy-java",
    "spark-tags_2.13",
)
"""What the connector needs and Spark has."""


def connector(spark: str) -> tuple[Module, ...]:
    """The connector for a version of Spark."""
    organisation, name = "org.apache.spark", "spark-sql-kafka-0-10_2.13"
    if spark.startswith("4.0."):
        return (Module(organisation, name, "4.0.0", IN_SPARK),)
    return (
        Module(organisation, name, "4.2.0", (*IN_SPARK, TOKENS)),
        Module(organisation, TOKENS, "4.0.0", IN_SPARK),
    )


def connector_jars() -> list[Path]:
    """The jars of the connector for the Spark that is installed."""
    return sorted(fetched(connector(pyspark.__version__)).glob("*.jar"))


def fetched(modules: Sequence[Module]) -> Path:
    """A folder with the jars of modules and of all they need; a :class:`FetchError` if not."""
    names = [f"{module.name}-{module.version}" for module in modules]
    folder = cache_folder() / "jars" / "+".join(names)
    if folder.is_dir():
        return folder
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    unfinished.mkdir(parents=True)
    try:
        asked = unfinished / "ivy.xml"
        asked.write_text(_ivy_file(modules), encoding="utf-8")
        subprocess.run(  # noqa: S603 (the user's own Java)
            [*_ivy(), "-ivy", asked, "-retrieve", f"{unfinished}/[artifact]-[revision].[ext]"],
            check=True,
            capture_output=True,
            timeout=FETCH_SECONDS_MAX,
        )
        asked.unlink()
        unfinished.rename(folder)
    except (subprocess.SubprocessError, OSError, UsageError) as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not folder.is_dir():  # Another process may have been quicker.
            raise FetchError(f"cannot be had here: {', '.join(names)}") from error
    return folder


def _ivy() -> list[str | Path]:
    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    patience = (
        f"-Dsun.net.client.defaultConnectTimeout={CONNECT_MS_MAX}",
        f"-Dsun.net.client.defaultReadTimeout={READ_MS_MAX}",
    )
    java = find_java().home / "bin" / "java"
    cache = cache_folder() / "ivy"
    return [java, *patience, "-jar", ivy, "-m2compatible", "-cache", cache, "-types", *TYPES]


def _ivy_file(modules: Sequence[Module]) -> str:
    wanted = "".join(module.element for module in modules)
    return (
        "<ivy-module version='2.0'><info organisation='twigcast' module='jars'/>"
        "<configurations><conf name='default'/></configurations>"
        f"<dependencies>{wanted}</dependencies></ivy-module>"
    )


def main() -> int:
    """Print the jars, as ``spark.jars`` takes them."""
    try:
        print(",".join(map(str, connector_jars())))
    except FetchError as error:
        print(f"the connector for Kafka {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
