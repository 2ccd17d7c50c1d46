"""``matches``: the subscriptions a document satisfies, as a column and as an SQL function.

    documents.select("name", matches("content", {"cheap": "//item[price < 10]"}))

    register(spark, "subscriptions.csv")
    spark.sql("SELECT name, twigcast_match(content) AS who FROM documents")

The answer is an array of subscription ids as text (``array<string>``), in the order of the
subscriptions; in a list of expressions the ids count from 1. It is null where the column is null
or the document was refused (not well-formed, over a limit): an empty array would claim that
somebody had looked. A subscription that is too costly to decide for a document is not in the
array.

``matches_or_reason``, in SQL ``twigcast_match_or_reason``, has the same array beside whatever is
missing in it: the undecided subscriptions, and the stage and the reason of a refusal, with the line
and column, as in the table ``dead_letters``::

    documents.select("name", matches_or_reason("content", rules)).select("name", "outcome.*")

A column that is neither binary nor text is refused when the plan is made, and not when it is run.
Of what type a column is, a function in Python cannot say; so its argument is a condition that is
never met, in which Spark's own ``decode`` stands, and that it takes out again. A function in SQL
gets its arguments as they are: there it is a failure of the query.

A column function has no place for rejected subscriptions, so a bad one is an error at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession, functions

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import TwigcastError, UsageError
from twigcast.files import compile_subscriptions
from twigcast.language import LIBRARY_LIMITS, DocumentLimits
from twigcast.matching import Matcher
from twigcast.spark.pipeline import reject_duplicate_ids
from twigcast.spark.plans.distribution import share_labels, share_matcher
from twigcast.spark.plans.frames import ids_function
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.session import check_session, running_session
from twigcast.spark.storage.sources import load_subscriptions
from twigcast.spark.worker.labels import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from twigcast.files import Rejected
    from twigcast.spark.plans.distribution import SharedLabels, SharedMatcher
    from twigcast.spark.storage.sources import Subscriptions


@door("making a column")
def matches(
    column: Column | str,
    subscriptions: Subscriptions,
    *,
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> Column:
    """A column with the ids of the subscriptions that each document of a column satisfies.

    Documents are binary, or text that was decoded already. ``subscriptions`` is the path of a
    file, a list of expressions, a mapping from id to expression, or rows or a DataFrame with
    ``id`` and ``xpath``. A document may have ``limits.bytes_max`` bytes. The column is
    called ``matches``.
    """
    return _column(column, subscriptions, limits).alias("matches")


@door("making a column")
def matches_or_reason(
    column: Column | str,
    subscriptions: Subscriptions,
    *,
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> Column:
    """The same as :func:`matches`, and a reason where there is no answer.

    The column is a structure called ``outcome``: ``matches``, ``undecided`` (the ids of
    subscriptions that are too costly for the document), ``stage``, ``reason``, ``line`` and
    ``column``. The first two are null where the document was refused, the others where it was not.
    """
    return _column(column, subscriptions, limits, reasons=True).alias("outcome")


@door("registering a function")
def register(
    spark: SparkSession,
    subscriptions: Subscriptions,
    name: str = "twigcast_match",
    *,
    limits: DocumentLimits = LIBRARY_LIMITS,
) -> None:
    """Make ``NAME(content)`` and ``NAME_or_reason(content)`` known to SQL.

    Registering again replaces the subscriptions.
    """
    check_session(spark)
    if not isinstance(name, str):
        raise UsageError(f"the name of a function is text, not {shown(name)}")
    with _plain_errors():
        matcher, labels = _shared(spark, subscriptions)
        spark.udf.register(name, ids_function(matcher, labels, limits))
        spark.udf.register(f"{name}_or_reason", ids_function(matcher, labels, limits, reasons=True))


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Failures of Spark or of a disk, as one sentence."""
    try:
        yield
    except SPARK_FAILURES as error:
        raise UsageError(f"Spark does not take the function: {cause(error)}") from error
    except OSError as error:
        raise TwigcastError(f"the subscriptions cannot be shared with workers: {error}") from error


def _column(
    column: Column | str,
    subscriptions: Subscriptions,
    limits: DocumentLimits,
    *,
    reasons: bool = False,
) -> Column:
    with _plain_errors():
        spark = running_session()
        if spark is None:
            raise UsageError("there is no Spark session yet: start one, then call matches")
        function = ids_function(*_shared(spark, subscriptions), limits, reasons=reasons)
        return function(_documents(column))


def _documents(column: Column | str) -> Column:
    """A column as it is, which Spark accepts only if it is binary or text."""
    given = functions.col(column) if isinstance(column, str) else column
    never = functions.lit(False) & functions.decode(given, "UTF-8").isNull()  # noqa: FBT003
    return functions.when(never, None).otherwise(given)


def _shared(
    spark: SparkSession, subscriptions: Subscriptions
) -> tuple[SharedMatcher, SharedLabels]:
    file = reject_duplicate_ids(load_subscriptions(subscriptions, lambda: spark))
    matcher = Matcher()
    rejected = file.rejected + compile_subscriptions(file, matcher.add)
    if rejected:
        raise UsageError(_complaint(rejected))
    return share_matcher(spark, matcher), share_labels(spark, labels_of(file))


def _complaint(rejected: tuple[Rejected, ...]) -> str:
    first = rejected[0]
    place = f"line {first.line}" + (f", column {first.column}" if first.column else "")
    others = f" (and {len(rejected) - 1:,} more)" if len(rejected) > 1 else ""
    return f"not a subscription: {first.xpath!r}, {place}: {first.reason}{others}"
