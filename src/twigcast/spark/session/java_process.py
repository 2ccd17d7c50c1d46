"""The Java machine of an embedded Spark: whoever is interrupted leaves none behind.

pyspark starts a shell script, which becomes Java, and waits for a file in which Java tells how it
can be reached. Once it runs, Java ends by itself when this process has gone. But if Ctrl-C comes
before, pyspark removes the folder of that file; Java then fails to write it, and a thread of it
stays for ever. So what was started is remembered here, in a process group of its own, and ended by
whatever ends the start.

A Java machine may also go while it is needed: somebody kills it, or the system does for want of
memory. pyspark would talk to it for ever, so it is made to forget it here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from pyspark import SparkConf, SparkContext, java_gateway
from pyspark.sql import SparkSession

_FAREWELL_SECONDS = 5
"""So long may Java take to remove its files."""

_ENDING_SECONDS = 2
"""So long may it take until a process counts as ended whose connections were cut off."""


def launched(conf: SparkConf, log: IO[bytes]) -> Any:  # noqa: ANN401 (py4j has no types)
    """A Java machine that says everything into the log; if that fails, there is none."""
    started: list[subprocess.Popen[bytes]] = []

    class Remembered(subprocess.Popen):  # type: ignore[type-arg]
        """A process that is known before it begins; pyspark hands out none that fails to start."""

        def __init__(self, *words: Any, **options: Any) -> None:  # noqa: ANN401 (theirs)
            started.append(self)
            super().__init__(*words, **options, process_group=0)

    usual = vars(java_gateway)["Popen"]
    vars(java_gateway)["Popen"] = Remembered
    try:
        heard = {"stdout": log, "stderr": log}
        return java_gateway.launch_gateway(conf, heard)  # type: ignore[no-untyped-call]
    except BaseException:
        for process in started:
            end(process)
        raise
    finally:
        vars(java_gateway)["Popen"] = usual


@contextmanager
def unless_interrupted(gateway: Callable[[], Any]) -> Iterator[None]:
    """End a Java machine that was started for what is interrupted in the body of the ``with``.

    If that fails in another way, the machine stays: another attempt can use it.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException:
        process = _process_of(gateway())
        if process is not None:
            try:
                process.terminate()
                process.wait(_FAREWELL_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            finally:
                end(process)
        raise


def has_gone(*, soon: bool = False) -> bool:
    """Whether the Java machine that pyspark talks to has ended, or does so ``soon``.

    One that others have started (``spark-submit``) is not known here.
    """
    process = _process_of(_gateway())
    if process is None:
        return False
    if soon:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_SECONDS)
    return process.poll() is not None


def forget() -> None:
    """Have pyspark forget its Java machine and all that lived there, so that it starts another."""
    context = SparkContext._active_spark_context  # noqa: SLF001 (there is no other way)
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.shutdown()
    for name in ("_gateway", "_jvm", "_active_spark_context"):
        setattr(SparkContext, name, None)
    for name in ("_instantiatedSession", "_activeSession"):
        setattr(SparkSession, name, None)


def hush_accumulators(context: SparkContext) -> None:
    """Keep the server that Java sends its counts to from printing tracebacks when Java goes."""
    server: Any = context._accumulatorServer  # noqa: SLF001 (there is no other way)
    usual = server.handle_error

    def handle_error(request: object, address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError | EOFError):
            usual(request, address)

    server.handle_error = handle_error


def _gateway() -> Any:  # noqa: ANN401 (py4j has no types)
    return SparkContext._gateway  # noqa: SLF001 (there is no other way)


def _process_of(gateway: Any) -> subprocess.Popen[bytes] | None:  # noqa: ANN401 (likewise)
    # py4j would take any other name for one of Java's.
    return None if gateway is None else vars(gateway).get("proc")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started, and wait until it has gone."""
    if getattr(process, "pid", None) is None:
        return  # It never began.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
