"""``grid``: a function called at every combination of its parameters, shared out by Spark.

    def crossings(strategy: str, brokers: int, seed: int) -> dict[str, int]: ...

    table = grid(spark, crossings, {"strategy": ["flooding", "covering"], "brokers": [7, 15, 31]})

What a *point* of the grid is, and what becomes of it::

    axes        strategy  x  brokers      the combinations, the last axis changing fastest
    repeats     each of them so often     a column `repeat`, from 1
    seed        made of the point alone   equal on every machine, whatever else is in the grid

    strategy  brokers  repeat  documents  seconds  error
    flooding        7       1        600     0.41  null
    flooding       15       1       null     0.02  ValueError: ...

The function returns a mapping from names to plain values: numbers, texts, truth values. They become
columns, whose types are found out when all is done; what a point does not return is null in its
row. A point that fails is a row with an error, and the others go on. Only a point that takes its
whole worker down with it, again and again, stops the grid.

Every answer comes back to this process, so that nothing is computed twice, however often the table
is used; hence the bound on points. Tasks take points in turn, like players dealt cards: neighbours
in the grid tend to cost the same, and go to different tasks.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import prod
from pickle import PicklingError
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from pyspark.errors import PySparkPicklingError
from pyspark.sql import SparkSession

from twigcast.display import shown
from twigcast.door import door
from twigcast.errors import TwigcastError, UsageError
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.session import check_session

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql import DataFrame

    Column: TypeAlias = pa.Array[Any]

Plain: TypeAlias = bool | int | float | str | None

POINTS_MAX = 100_000
"""All answers come to the driver, about a kilobyte each at most."""

TASKS_MAX = 1_000
"""A task costs Spark some ten milliseconds, which many tiny points need not pay each."""

_OWN_COLUMNS = ("repeat", "seconds", "error")
_ANSWERS = "point long, seconds double, answer string, error string"
_INTEGER_MAX = 2**63 - 1


@door("computing a grid")
def grid(
    spark: SparkSession,
    work: Callable[..., Mapping[str, Plain]],
    axes: Mapping[str, Sequence[object]],
    *,
    repeats: int = 1,
    partitions: int | None = None,
) -> DataFrame:
    """A table with a row for each combination of the axes: what ``work`` returned there.

    ``work`` is called on the workers with the axes by name, and with a ``seed`` if it takes an
    argument of that name which is no axis. Rows are in the order of the axes. ``partitions`` is the
    number of tasks; if not given, every point is a task of its own, up to :data:`TASKS_MAX`.

    A :class:`UsageError` says what is wrong with the grid itself, before anything is started.
    """
    given = {name: tuple(values) for name, values in axes.items()}
    seeded = _takes_seed(work, given)
    count = _checked_count(given, repeats, partitions)
    check_session(spark)
    tasks = max(1, min(count, partitions or TASKS_MAX))

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for first in batch.column("id").to_pylist():
                for number in range(int(first or 0), count, tasks):
                    point, repeat = point_at(given, repeats, number)
                    arguments = {
                        **point,
                        **({"seed": seed_of(point, repeat)} if seeded else {}),
                    }
                    yield _row(number, *attempt(work, arguments, taken=(*given, *_OWN_COLUMNS)))

    try:
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(answer, _ANSWERS).toArrow()
    except (PicklingError, PySparkPicklingError) as error:
        raise UsageError(f"the function cannot be sent to workers: {cause(error)}") from error
    except SPARK_FAILURES as error:
        raise TwigcastError(f"the grid did not finish: {cause(error)}") from error
    return spark.createDataFrame(table_of_points(given, repeats, rows.sort_by("point")))


def point_at(
    axes: Mapping[str, Sequence[object]], repeats: int, number: int
) -> tuple[dict[str, object], int]:
    """The combination with this number, and which repeat of it; the last axis changes fastest.

    >>> [point_at({"a": "xy", "b": [1, 2]}, 1, number)[0]["b"] for number in range(4)]
    [1, 2, 1, 2]
    """
    number, repeat = divmod(number, repeats)
    point = {}
    for name in reversed(list(axes)):
        number, place = divmod(number, len(axes[name]))
        point[name] = axes[name][place]
    return {name: point[name] for name in axes}, repeat + 1


def seed_of(point: Mapping[str, object], repeat: int) -> int:
    """A number below 2**63 that the point alone decides, in whatever order its axes are named.

    >>> seed_of({"a": 1, "b": "x"}, 1) == seed_of({"b": "x", "a": 1}, 1)
    True
    """
    text = json.dumps([dict(point), repeat], sort_keys=True, default=str)
    return int.from_bytes(sha256(text.encode()).digest()[:8]) >> 1


def attempt(
    work: Callable[..., Mapping[str, Plain]],
    arguments: Mapping[str, object],
    *,
    taken: Sequence[str] = _OWN_COLUMNS,
) -> tuple[float, str | None, str | None]:
    """The seconds that a point took, and its answer as JSON or what went wrong.

    ``taken`` are the names of columns that an answer may not have.
    """
    begun = perf_counter()
    try:
        answer = work(**arguments)
        seconds = perf_counter() - begun
        return seconds, json.dumps(_plain_answer(answer, taken)), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it is, it costs one point)
        return perf_counter() - begun, None, f"{type(error).__name__}: {error}"


def table_of_points(axes: Mapping[str, Sequence[object]], repeats: int, rows: pa.Table) -> pa.Table:
    """The table of a grid from the answers to its points, which must be in their order."""
    points = [point_at(axes, repeats, number) for number in range(len(rows))]
    answers = [json.loads(text or "{}") for text in rows.column("answer").to_pylist()]
    found = list(dict.fromkeys(name for answer in answers for name in answer))
    columns = {name: _column([_shown(point[name]) for point, _ in points]) for name in axes}
    columns["repeat"] = pa.array([repeat for _, repeat in points], pa.int32())
    columns.update({name: _column([answer.get(name) for answer in answers]) for name in found})
    plain = pa.table(columns)
    for name in ("seconds", "error"):
        plain = plain.append_column(name, rows.column(name))
    return plain


def _takes_seed(work: Callable[..., object], axes: Mapping[str, object]) -> bool:
    """Whether the function wants a seed; a :class:`UsageError` if it does not take the axes."""
    if not callable(work):
        raise UsageError(f"a grid needs a function to call, not a {type(work).__name__}")
    try:
        signature = inspect.signature(work)
    except ValueError:  # Some functions that are written in C do not tell.
        return False
    seeded = "seed" in signature.parameters and "seed" not in axes
    try:
        signature.bind(**axes, **({"seed": 0} if seeded else {}))
    except TypeError as error:
        raise UsageError(f"the function does not take these axes: {error}") from error
    return seeded


def _checked_count(
    axes: Mapping[str, Sequence[object]], repeats: int, partitions: int | None
) -> int:
    for name, values in axes.items():
        if name.lower() in _OWN_COLUMNS:
            raise UsageError(f"an axis cannot be called {name!r}: the table has such a column")
        if not values:
            raise UsageError(f"the axis {name!r} has no values")
    if len({name.lower() for name in axes}) < len(axes):
        raise UsageError("two axes differ by capitals only, which Spark does not tell apart")
    if repeats < 1 or (partitions is not None and partitions < 1):
        raise UsageError("repeats and partitions count from 1")
    if repeats > POINTS_MAX:
        raise UsageError(f"repeats are at most {POINTS_MAX:,}, not {shown(repeats)}")
    count = prod(map(len, axes.values())) * repeats
    if count > POINTS_MAX:
        raise UsageError(f"the grid has {count:,} points, and POINTS_MAX is {POINTS_MAX:,}")
    return count


def _plain_answer(answer: object, taken: Sequence[str]) -> dict[str, Plain]:
    if not isinstance(answer, Mapping):
        raise UsageError(f"a point returns a mapping from names to values, not {answer!r:.80}")
    own = {name.lower() for name in taken}
    plain = {}
    for name, value in answer.items():
        if not isinstance(name, str) or name.lower() in own:
            raise UsageError(f"a point cannot return {name!r}: the table has such a column")
        plain[name] = _plain(name, value)
    return plain


def _plain(name: str, value: object) -> Plain:
    # Numbers of numpy and their kin hand over a Python number.
    hand_over = getattr(value, "item", None)
    plain = hand_over() if callable(hand_over) else value
    if isinstance(plain, int) and abs(plain) > _INTEGER_MAX:
        raise UsageError(f"{name!r} is {plain}: whole numbers have 64 bits at most")
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    raise UsageError(f"{name!r} is a {type(value).__name__}: give numbers, texts or truth values")


def _shown(value: object) -> Plain:
    """A value of an axis as its column shows it: itself, or as text if it is nothing plain."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _column(values: Sequence[Plain]) -> Column:
    """Values in the narrowest of four types that takes all: truth, whole, number, text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and max(abs(int(value or 0)) for value in values) <= _INTEGER_MAX:
        return pa.array(values, pa.int64())
    if kinds and kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _row(number: int, seconds: float, answer: str | None, error: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([number], pa.int64()),
            pa.array([seconds], pa.float64()),
            pa.array([answer], pa.string()),
            pa.array([error], pa.string()),
        ],
        ["point", "seconds", "answer", "error"],
    )
