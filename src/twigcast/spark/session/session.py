"""A Spark session for Twigcast: where the program was submitted to, else embedded.

:func:`start_session` finds a Java, starts Spark inside this process' own Java machine
(``local[*]``: all cores) and hands back a session. A program that was submitted
(``spark-submit``) has its Java machine already, and in it all that was said when it was submitted;
that machine is asked first. What it settles where nobody has said anything else, and why:

- Documents travel to the Python workers in batches of at most 1,000 and 4 MB; with Spark's own
  10,000 and 64 MB the same work takes twice as long.
- Files that arrive are listed by 8 tasks. Spark's own choice is a task for each file, which takes
  three times as long as all the rest (35 s instead of 11 for a batch of 3,000).
- Workers run the Python of this process, so that they have the same packages.
- An embedded Spark listens on 127.0.0.1 only, and its web page is off. Files that it needs while it
  runs lie in one temporary folder, removed at exit.
- Everything that a Java machine of ours says (banner, warnings, stack traces of retried tasks) goes
  to a log file in a folder of its own and not to the terminal. When the start fails, the last lines
  of the log are in the error.

*Embedded* is a Spark with a master ``local…`` whose program was not submitted. What makes sense
there alone is left to the cluster's own configuration elsewhere. What counts, from the strongest:
``settings`` and ``master`` of the call; what was submitted, or is in ``PYSPARK_SUBMIT_ARGS``; the
file ``spark-defaults.conf``; and then the defaults here.

A master ``sc://host:port`` is a Spark that runs elsewhere and is only *connected to* (Spark
Connect). There is no Java machine here then, and of what is said above only the batches apply.
Such a session does the same things, but cannot be asked for what only Java knows; how to find that
out by other means stands here, too (:func:`cores_of`, :func:`partitions_of`).
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id

from twigcast.display import shown
from twigcast.errors import TwigcastError, UsageError
from twigcast.spark.session.compatibility import (
    forget_gateway,
    gateway,
    hush_accumulators,
    take_gateway,
)
from twigcast.spark.session.failures import SPARK_FAILURES, cause
from twigcast.spark.session.java import find_java
from twigcast.spark.session.java_process import (
    forget_settings,
    has_gone,
    launched,
    unless_interrupted,
)
from twigcast.spark.session.listing import LISTING_TASKS, LISTING_TASKS_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    import pyarrow as pa
    from pyspark.sql import DataFrame

_DEFAULTS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    LISTING_TASKS: str(LISTING_TASKS_MAX),
}

_EMBEDDED = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}

_EMBEDDED_MEMORY = "2g"
"""All work happens in this one Java machine; Spark's default of 1 GB is meant for a bare driver."""

_QUICK = {"spark.sql.shuffle.partitions": "2"}

_LAUNCH = {"spark.ui.showConsoleProgress": "false"}
"""What a Java machine of ours is launched with: its words go to a file."""

_QUICK_LAUNCH = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}

_NAME = "twigcast"
_NAME_OF_NOBODY = "pyspark-shell"
"""What Spark calls a program that has neither been submitted nor named."""

_CONNECT_PORT = 15002
_MASTER_PORT = 7077
_CONNECT_SECONDS_MAX = 10
"""Where nobody answers by then, nobody will; Spark itself would try for minutes."""

_COUNTED_ROWS = 1 << 16
"""More than any machine has cores, so that none of them goes without a row."""

_COMPLAINTS_SHOWN = 5
"""So many of the log's last lines are in the error when Spark does not start."""

_NO_PACKAGE = (
    "; what no package repository has can be given as files, spark.jars=… "
    "(for Kafka: docs/streaming.md)"
)


def start_session(
    master: str | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    quick: bool = False,
) -> SparkSession:
    """A running Spark session: the current one if there is one, else a new one.

    Without ``master`` it is the one this program was submitted to (``spark-submit --master``) or
    the one that Spark's own configuration names, and ``local[*]`` where there is none. ``settings``
    count more than what was submitted, and that more than what is set here by default.

    ``quick`` halves the time to start and costs speed later: for tests and tiny runs. A
    :class:`UsageError` says what to install, or what Spark complained about.
    """
    running = running_session()
    if running is not None:
        return running
    given = dict(settings or {})
    if master is not None:
        given = {"spark.master": master, **given}
    place = given.get("spark.master") or os.environ.get("SPARK_REMOTE")
    if place is not None and place.startswith("sc://"):
        return _connected(place, settings or {})
    if place is not None:
        _check_reach(place)
    return _start(given, quick=quick)


@contextmanager
def passing_session(
    master: str | None = None, *, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session for the time of a ``with``; one that was there before is taken, and stays."""
    with no_session_left():
        yield start_session(master, settings=settings)


def start_workers(spark: SparkSession) -> None:
    """Have the Python workers started and their modules imported, one for each core.

    Else the first run would wait for it, and its seconds would be no measure of its work.
    """
    cores = cores_of(spark)
    spark.range(0, cores, 1, cores).mapInArrow(_imported, "id long").collect()


def _imported(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import_module("twigcast.spark.plans.distribution")
    yield from batches


@contextmanager
def no_session_left() -> Iterator[None]:
    """Whatever session somebody starts in the body of the ``with`` is stopped at its end."""
    if running_session() is not None:
        yield
        return
    try:
        # Java would answer an interrupted question first, however long that takes.
        with unless_interrupted(gateway):
            yield
    finally:
        active = running_session()
        if active is not None:
            active.stop()


def running_session() -> SparkSession | None:
    """The session of this process, whichever thread has started it; None if there is none.

    One whose Java machine has gone is none.
    """
    if has_gone():
        forget_gateway()
    try:
        return SparkSession.active()
    except PySparkException:
        return None
    except SPARK_FAILURES as error:
        if has_gone(soon=True):
            forget_gateway()
            return None
        raise TwigcastError(f"Spark does not answer: {cause(error)}") from error


def check_session(spark: object) -> None:
    """A :class:`UsageError` for what is no session, before it is asked for anything."""
    # That of Spark Connect is a class of its own, whose packages may not be there.
    connect = sys.modules.get("pyspark.sql.connect.session")
    kinds = (SparkSession,) if connect is None else (SparkSession, connect.SparkSession)
    if not isinstance(spark, kinds):
        raise UsageError(
            f"spark is a Spark session, as start_session() gives one, not {shown(spark)}"
        )


def is_connected_to(spark: SparkSession) -> bool:
    """Whether Spark runs elsewhere, so that there is no Java machine to be asked."""
    return not hasattr(spark, "sparkContext")


def is_embedded(spark: SparkSession) -> bool:
    """Whether all of Spark runs on this machine, started by this process."""
    return not is_connected_to(spark) and str(spark.sparkContext.master).startswith("local")


def cores_of(spark: SparkSession) -> int:
    """How many tasks Spark can work on at a time, as far as it knows."""
    if not is_connected_to(spark):
        return spark.sparkContext.defaultParallelism
    # Spark shares rows out to all cores where nobody says otherwise.
    shared = spark.range(_COUNTED_ROWS).select(spark_partition_id())
    return shared.distinct().count()


def partitions_of(table: DataFrame) -> int | None:
    """How many tasks a table is read by; None where only its reading would tell."""
    return None if is_connected_to(table.sparkSession) else table.rdd.getNumPartitions()


def _check_reach(master: str) -> None:
    """A :class:`UsageError` if nobody listens; of several masters one is enough."""
    if not master.startswith("spark://"):
        return  # Spark has other ways to find it.
    error: Exception | None = None
    for place in master.removeprefix("spark://").split(","):
        try:
            _reach(f"spark://{place}", _MASTER_PORT)
        except (OSError, ValueError) as found:
            error = found
        else:
            return
    raise UsageError(f"cannot reach the master {master}: {error}") from error


def _reach(address: str, port: int) -> None:
    place = urlsplit(address)
    listening = place.hostname, place.port or port
    with socket.create_connection(listening, timeout=_CONNECT_SECONDS_MAX):
        pass


def _connected(address: str, settings: Mapping[str, str]) -> SparkSession:
    try:
        _reach(address, _CONNECT_PORT)
        spark = SparkSession.builder.remote(address).getOrCreate()
        for key, text in {**_DEFAULTS, **settings}.items():
            if key.startswith("spark.sql."):  # All else was settled when that Spark was started.
                spark.conf.set(key, text)
    except ImportError as error:
        raise UsageError(
            f"{address} needs packages that are not there: "
            "install them from a checkout of Twigcast, pip install '.[spark,connect]'"
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot connect to {address}: {error}") from error
    except SPARK_FAILURES as error:
        raise UsageError(f"cannot connect to {address}: {cause(error)}") from error
    return spark


def _was_submitted() -> bool:
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _prepare_environment() -> None:
    """What Spark's start script reads from the environment."""
    os.environ["JAVA_HOME"] = str(find_java().home)
    if not _is_utf8(os.environ):
        # To Java, files whose names it cannot read are not there.
        os.environ["LC_ALL"] = "C.UTF-8"


def _choose_python(conf: SparkConf, *, embedded: bool) -> None:
    """Set which Python workers run."""
    chosen = conf.get("spark.pyspark.python")
    if embedded:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    elif chosen is not None:
        os.environ["PYSPARK_PYTHON"] = chosen
    else:
        # A cluster may have its Python elsewhere, and its user will have said where.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _is_utf8(environment: Mapping[str, str]) -> bool:
    """Whether names of files are UTF-8 to programs that are started.

    >>> _is_utf8({"LC_ALL": "C", "LANG": "de_DE.UTF-8"}), _is_utf8({"LC_CTYPE": "C.utf8"})
    (False, True)
    """
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    return "utf8" in locale.lower().replace("-", "")


def _start(settings: Mapping[str, str], *, quick: bool) -> SparkSession:
    folder = Path(tempfile.mkdtemp(prefix="twigcast-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    log = folder / "spark.log"
    try:
        launched_here = None
        if gateway() is not None:
            forget_settings(gateway())  # A Java machine outlives its session.
        elif not _was_submitted():
            _prepare_environment()
            launched_here = _launched(settings, log, quick=quick)
        with unless_interrupted(lambda: launched_here), _same_interrupts():
            take_gateway(launched_here)
            conf = SparkConf().setAll(list(settings.items()))
            _set_defaults(conf, folder, quick=quick)
            if "spark.master" not in settings:
                _check_reach(_master_of(conf))
            hush_accumulators(SparkContext(conf=conf))
            # A cluster that lets nobody in stops the context only after a while.
            return SparkSession.builder.getOrCreate()
    except (*SPARK_FAILURES, OSError) as error:
        raise UsageError(f"Spark did not start: {_complaint(error, log)}") from error


def _launched(given: Mapping[str, str], log: Path, *, quick: bool) -> Any:  # noqa: ANN401 (py4j has no types)
    """A Java machine of ours; what belongs to its start is given to it at once."""
    settings = {**_LAUNCH, **(_QUICK_LAUNCH if quick else {}), **given}
    is_local = given.get("spark.master", "local").startswith("local")
    with log.open("wb") as file:
        return launched(settings, _EMBEDDED_MEMORY if is_local else None, file)


def _set_defaults(conf: SparkConf, folder: Path, *, quick: bool) -> None:
    """Set what nobody has: neither the caller, nor who submitted, nor a file of Spark's."""
    conf.setIfMissing("spark.master", "local[*]")
    if conf.get("spark.app.name", _NAME_OF_NOBODY) == _NAME_OF_NOBODY:
        conf.setAppName(_NAME)
    embedded = _master_of(conf).startswith("local") and not _was_submitted()
    _choose_python(conf, embedded=embedded)
    at_home = {**_EMBEDDED, "spark.local.dir": str(folder)} if embedded else {}
    for key, text in {**_DEFAULTS, **at_home, **(_QUICK if quick else {})}.items():
        conf.setIfMissing(key, text)


def _master_of(conf: SparkConf) -> str:
    master = conf.get("spark.master")
    assert master is not None, "there is always a master"
    return master


@contextmanager
def _same_interrupts() -> Iterator[None]:
    """Keep what a program does at Ctrl-C, where it is something of its own.

    pyspark replaces it by one that asks Java to cancel all jobs, amid whatever else is being asked.
    """
    usual = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and usual not in (None, signal.default_int_handler):
            signal.signal(signal.SIGINT, usual)


def _complaint(error: Exception, log: Path) -> str:
    """The last lines of the log, or the error's own first line if there are none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    errors = [line for line in lines if "ERROR" in line or "Exception" in line or "rror:" in line]
    complaint = "; ".join((errors or lines)[-_COMPLAINTS_SHOWN:]) or cause(error)
    return complaint + (_NO_PACKAGE if "unresolved dependency" in complaint else "")
