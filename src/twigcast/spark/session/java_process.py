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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from pyspark import SparkConf

from twigcast.spark.session.compatibility import gateway, launch_gateway

_FAREWELL_SECONDS = 5
"""So long may Java take to remove its files."""

_MEMORY = "SPARK_DRIVER_MEMORY"
"""The variable that counts where neither a setting nor a file of Spark's says it."""

_LAUNCHED_WITH = "twigcast_settings"

_ENDING_SECONDS = 2
"""So long may it take until a process counts as ended whose connections were cut off."""


def launched(settings: Mapping[str, str], memory: str | None, log: IO[bytes]) -> Any:  # noqa: ANN401 (py4j has no types)
    """A Java machine that says everything into the log; if that fails, there is none.

    ``memory`` is what it may use if nobody has said anything else, in a file of Spark's or in the
    environment; None is what Spark thinks right.
    """
    started: list[subprocess.Popen[bytes]] = []

    class Remembered(subprocess.Popen):  # type: ignore[type-arg]
        """A process that is known before it begins."""

        def __init__(self, *words: Any, **options: Any) -> None:  # noqa: ANN401 (theirs)
            started.append(self)
            if memory is not None:
                options["env"] = {_MEMORY: memory, **options["env"]}
            super().__init__(*words, **options, process_group=0)

    options = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        machine = launch_gateway(options, Remembered, {"stdout": log, "stderr": log})
    except BaseException:
        for process in started:
            end(process)
        raise
    # py4j would take any other name for one of Java's.
    vars(machine)[_LAUNCHED_WITH] = tuple(settings)
    return machine


def forget_settings(machine: Any) -> None:  # noqa: ANN401 (likewise)
    """Have a Java machine forget the settings it was launched with: they were one session's.

    If a file of Spark's has another value for one of them, that is not known here any more.
    """
    for name in vars(machine).pop(_LAUNCHED_WITH, ()):
        machine.jvm.java.lang.System.clearProperty(name)


@contextmanager
def unless_interrupted(machine: Callable[[], Any]) -> Iterator[None]:
    """End a Java machine that was started for what is interrupted in the body of the ``with``.

    If that fails in another way, the machine stays: another attempt can use it.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException:
        process = _process_of(machine())
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
    process = _process_of(gateway())
    if process is None:
        return False
    if soon:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_SECONDS)
    return process.poll() is not None


def _process_of(machine: Any) -> subprocess.Popen[bytes] | None:  # noqa: ANN401 (likewise)
    return None if machine is None else vars(machine).get("proc")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started, and wait until it has gone."""
    if getattr(process, "pid", None) is None:
        return  # It never began.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
