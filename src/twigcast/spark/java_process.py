"""The Java machine of an embedded Spark while it starts: whoever is interrupted leaves none behind.

pyspark starts a shell script, which becomes Java, and waits for a file in which Java tells how it
can be reached. Once it runs, Java ends by itself when this process has gone. But if Ctrl-C comes
before, pyspark removes the folder of that file; Java then fails to write it, and a thread of it
stays for ever. So what was started is remembered here, in a process group of its own, and ended by
whatever ends the start.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from pyspark import java_gateway

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark import SparkConf

__all__ = ["launched", "unless_interrupted"]


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
def unless_interrupted(gateway: Any) -> Iterator[None]:  # noqa: ANN401 (likewise)
    """End a Java machine that was started for what is interrupted in the body of the ``with``.

    If that fails in another way, the machine stays: another attempt can use it.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException:
        if gateway is not None:
            end(gateway.proc)
        raise


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started, and wait until it has gone."""
    if getattr(process, "pid", None) is None:
        return  # It never began.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
