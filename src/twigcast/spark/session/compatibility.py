"""Differences between versions of pyspark, and its parts that are not public.

A name that is not public may change with any version, and what is public may be younger than the
oldest version that we work with. Both stand here alone, so that a new version of Spark is one
file's work:

    from_arrow_schema, utc_arrow_schema    schemas, from Arrow and to it
    arrow_function                         since 4.1; 4.0 hands over pandas
    arrow_stream_function                  since 4.1
    repartition_by_number                  since 4.1; in 4.0 by numbers whose hashes are known
    gateway, take_gateway, …               the Java machine, and what pyspark remembers of it
    hadoop                                 Hadoop's file systems
    input_files                            the files of a table, at once
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyspark
from pyspark import SparkContext, java_gateway
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas import functions
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from twigcast.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql._typing import UserDefinedFunctionLike
    from pyspark.sql.types import DataType

__all__ = [
    "ColumnFunction",
    "arrow_function",
    "arrow_stream_function",
    "forget_gateway",
    "from_arrow_schema",
    "gateway",
    "hadoop",
    "hush_accumulators",
    "input_files",
    "launch_gateway",
    "repartition_by_number",
    "take_gateway",
    "utc_arrow_schema",
]

# Schemas and functions.

ColumnFunction: TypeAlias = "UserDefinedFunctionLike"
"""A function of columns, in Spark."""


def utc_arrow_schema(schema: StructType) -> pa.Schema:
    """A schema of Spark's as one of Arrow's, in which timestamps are UTC."""
    if "timezone" in inspect.signature(to_arrow_schema).parameters:
        return to_arrow_schema(schema, timezone="UTC")
    return to_arrow_schema(schema)  # Older versions know nothing else.


def arrow_function(function: Callable[..., pa.Array[Any]], answer: DataType) -> ColumnFunction:
    """A function of Arrow columns as one of Spark's.

    Of how many columns it is, a function in Python cannot say, so it is handed all there are.
    """
    made: ColumnFunction
    if hasattr(functions, "arrow_udf"):
        # Spark reads the annotations to learn what kind of function this is.
        def of_arrow(*columns: pa.Array) -> pa.Array:  # type: ignore[type-arg]
            return function(*columns)

        made = functions.arrow_udf(of_arrow, answer)  # type: ignore[call-overload]
        return made

    if isinstance(answer, StructType):
        raise UsageError(
            f"structures are for Spark 4.1 and newer, and this is {pyspark.__version__}: "
            "take matches, or Pipeline.disseminate"
        )

    def of_pandas(*columns: pd.Series) -> pd.Series:
        return function(*map(pa.Array.from_pandas, columns)).to_pandas()

    made = functions.pandas_udf(of_pandas, answer)  # type: ignore[call-overload]
    return made


def arrow_stream_function(
    function: Callable[[Iterator[tuple[pa.Array[Any], ...]]], Iterator[pa.Array[Any]]],
    answer: DataType,
) -> ColumnFunction:
    """A function from batches of several Arrow columns to batches of one, as one of Spark's.

    Spark asks for it once, whatever is made of its answer: it is called not deterministic, or a
    filter on the answer would have it asked for every row twice.
    """
    if not hasattr(functions, "arrow_udf"):
        raise UsageError(
            f"DataFrames are matched by Spark 4.1 and newer, and this is {pyspark.__version__}: "
            "use Pipeline.disseminate"
        )

    def of_arrow(columns: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:  # type: ignore[type-arg]
        yield from function(columns)

    made: Any = functions.arrow_udf(of_arrow, answer)  # type: ignore[call-overload]
    asked_once: ColumnFunction = made.asNondeterministic()
    return asked_once


def repartition_by_number(frame: DataFrame, count: int, column: str) -> DataFrame:
    """Rows in so many partitions, each in the one whose number is in the column."""
    if hasattr(frame, "repartitionById"):
        return frame.repartitionById(count, column)
    # Spark puts a row where the hash of its value leads. For each partition, a number that leads
    # there is looked for among so many that hardly one partition is left without.
    place = sql.pmod(sql.hash("id"), sql.lit(count)).alias("place")
    known: dict[int, int] = {}
    looked = 0
    while len(known) < count:
        numbers = frame.sparkSession.range(looked, looked + _NUMBERS_TRIED * count)
        looked += _NUMBERS_TRIED * count
        for row in numbers.groupBy(place).agg(sql.min("id").alias("id")).collect():
            known[row["place"]] = row["id"]
    # The hash of a number depends on its type, too.
    leading = sql.array(*(sql.lit(known[number]) for number in range(count))).cast("array<long>")
    return frame.repartition(count, sql.get(leading, sql.col(column)))


_NUMBERS_TRIED = 20
"""So many numbers are tried at a time for each partition. One that none of them leads to is one in
e to the power of 20."""

# The Java machine.


def launch_gateway(options: Any, popen: type, output: dict[str, Any]) -> Any:  # noqa: ANN401 (py4j has no types)
    """A new Java machine, whose process is made by ``popen`` with ``output``.

    pyspark hands out none that fails to start; who makes the process knows it all the same.
    """
    usual = vars(java_gateway)["Popen"]
    vars(java_gateway)["Popen"] = popen
    try:
        return java_gateway.launch_gateway(options, output)  # type: ignore[no-untyped-call]
    finally:
        vars(java_gateway)["Popen"] = usual


def gateway() -> Any:  # noqa: ANN401 (likewise)
    """The way to the Java machine of this process; None as long as there is none."""
    return SparkContext._gateway  # noqa: SLF001 (there is no other way)


def take_gateway(machine: Any) -> None:  # noqa: ANN401 (likewise)
    """Have pyspark use a Java machine, so that its configuration is known.

    With None it keeps the one it has, or takes the one by which the program was submitted.
    """
    SparkContext._ensure_initialized(gateway=machine)  # noqa: SLF001 (likewise)


def forget_gateway() -> None:
    """Have pyspark forget its Java machine and all that lived there, so that it starts another."""
    context = SparkContext._active_spark_context  # noqa: SLF001 (likewise)
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.shutdown()
    for name in ("_gateway", "_jvm", "_active_spark_context"):
        setattr(SparkContext, name, None)
    for name in ("_instantiatedSession", "_activeSession"):
        setattr(SparkSession, name, None)


def hush_accumulators(context: SparkContext) -> None:
    """Keep the server that Java sends its counts to from printing tracebacks when Java goes."""
    server: Any = context._accumulatorServer  # noqa: SLF001 (likewise)
    usual = server.handle_error

    def handle_error(request: object, address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError | EOFError):
            usual(request, address)

    server.handle_error = handle_error


def input_files(frame: DataFrame) -> list[str]:
    """The addresses of the files that a table is read from."""
    java: Any = getattr(frame, "_jdf", None)
    if java is None:
        return frame.inputFiles()
    # pyspark asks for one after the other; in an address, a line end is %0A.
    context: Any = frame.sparkSession.sparkContext
    join = context._jvm.org.apache.hadoop.util.StringUtils.join  # noqa: SLF001 (likewise)
    told: str = join("\n", java.inputFiles())
    return told.splitlines()


def hadoop(spark: SparkSession) -> tuple[Any, Any]:
    """The names of Java, and the configuration of Hadoop's file systems in it."""
    context: Any = spark.sparkContext
    return context._jvm, context._jsc.hadoopConfiguration()  # noqa: SLF001 (likewise)
