"""``matches``: the subscriptions a document satisfies, as a column and as an SQL function.

    documents.select("name", matches("content", {"cheap": "//item[price < 10]"}))

    register(spark, "subscriptions.csv")
    spark.sql("SELECT name, twigcast_match(content) AS who FROM documents")

The answer is an array of subscription ids as text (``array<string>``), in the order of the
subscriptions; in a list of expressions the ids count from 1. It is null where the column is null
or the document was refused (not well-formed, over a limit): an empty array would claim that
somebody had looked. A subscription that is too costly to decide for a document is not in the
array. Whoever needs the reasons runs the pipeline, which has tables for them.

A column function has no place for rejected subscriptions, so a bad one is an error at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import compile_subscriptions
from twigcast.matching import Matcher
from twigcast.spark.pipeline import reject_duplicate_ids
from twigcast.spark.plans.distribution import matching_function, share_labels, share_matcher
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.session import check_session, running_session
from twigcast.spark.storage.sources import load_subscriptions
from twigcast.spark.worker.labels import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from twigcast.files import Rejected
    from twigcast.spark.session.compatibility import ColumnFunction
    from twigcast.spark.storage.sources import Subscriptions


@door("making a column")
def matches(column: Column | str, subscriptions: Subscriptions) -> Column:
    """A column with the ids of the subscriptions that each document of a column satisfies.

    Documents are binary, or text that was decoded already. ``subscriptions`` is the path of a
    file, a list of expressions, a mapping from id to expression, or rows or a DataFrame with
    ``id`` and ``xpath``. The column is called ``matches``.
    """
    with _told_plainly():
        spark = running_session()
        if spark is None:
            raise UsageError("there is no Spark session yet: start one, then call matches")
        return _function(spark, subscriptions)(column).alias("matches")


@door("registering a function")
def register(
    spark: SparkSession, subscriptions: Subscriptions, name: str = "twigcast_match"
) -> None:
    """Make ``NAME(content)`` known to SQL; registering again replaces the subscriptions."""
    check_session(spark)
    if not isinstance(name, str):
        raise UsageError(f"the name of a function is text, not {shown(name)}")
    with _told_plainly():
        spark.udf.register(name, _function(spark, subscriptions))


@contextmanager
def _told_plainly() -> Iterator[None]:
    """What Spark or a disk fails with, as one sentence."""
    try:
        yield
    except SPARK_FAILURES as error:
        raise UsageError(f"Spark does not take the function: {cause(error)}") from error
    except OSError as error:
        raise TwigcastError(f"the subscriptions cannot be shared with workers: {error}") from error


def _function(spark: SparkSession, subscriptions: Subscriptions) -> ColumnFunction:
    file = reject_duplicate_ids(load_subscriptions(subscriptions))
    matcher = Matcher()
    rejected = file.rejected + compile_subscriptions(file, matcher.add)
    if rejected:
        raise UsageError(_complaint(rejected))
    return matching_function(share_matcher(spark, matcher), share_labels(spark, labels_of(file)))


def _complaint(rejected: tuple[Rejected, ...]) -> str:
    first = rejected[0]
    place = f"line {first.line}" + (f", column {first.column}" if first.column else "")
    others = f" (and {len(rejected) - 1:,} more)" if len(rejected) > 1 else ""
    return f"not a subscription: {first.xpath!r}, {place}: {first.reason}{others}"
