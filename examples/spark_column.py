"""A column of subscriptions: a table of documents in, a table of who wants them out, on Spark.

    python examples/spark_column.py feed.parquet subscriptions.csv interests.parquet

The table has the documents in a column ``content``. The result has a row for each document and
each subscription that it satisfies, with all other columns of the table; the documents themselves
are left out. ``--master`` names a cluster; without it, Spark runs inside this process.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import functions as sql

from twigcast import UsageError
from twigcast.spark import matches, start_session


def main() -> None:
    """Read, match, write; print how many documents each subscription gets."""
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("feed", "subscriptions", "out"):
        arguments.add_argument(name)
    arguments.add_argument("--master", default="local[*]")
    given = arguments.parse_args()
    spark = start_session(given.master)
    documents = spark.read.parquet(given.feed)
    try:
        ids = matches("content", given.subscriptions)
    except UsageError as error:
        sys.exit(str(error))
    # A null would mean that the document was refused; explode leaves it out, as it does documents
    # that nobody asked for. Whoever needs the reasons runs `twigcast run`, which keeps them.
    interests = documents.withColumn("subscription", sql.explode(ids)).drop("content")
    interests.write.mode("overwrite").parquet(given.out)
    sums = spark.read.parquet(given.out).groupBy("subscription").count().sort("subscription")
    for row in sums.collect():
        print(row["subscription"], row["count"])


if __name__ == "__main__":
    main()
