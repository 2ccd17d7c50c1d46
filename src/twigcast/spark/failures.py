"""What Spark says when it fails, without the hundred lines of Java around it."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from twigcast.display import one_line

SPARK_FAILURES = (PySparkException, Py4JError)
"""Everything that Spark raises here: its own errors, and those of Java that it did not foresee."""

_TELLING = re.compile(r"Cannot run program .*|Python worker exited unexpectedly \(crashed\)")
"""What is behind these says less: that there is no such file, that a stream has ended."""


def cause(error: BaseException) -> str:
    """The innermost cause that a failure names, as one line.

    >>> cause(PySparkException("[NO] It is gone. SQLSTATE: 42"))
    'It is gone.'
    """
    text = str(error.java_exception) if isinstance(error, Py4JJavaError) else str(error)
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("\t")]
    telling = _TELLING.search(text)
    if telling is not None:
        return one_line(telling[0])
    causes = [line for line in lines if line.startswith("Caused by:")]
    if "Traceback (most recent call last):" in lines:
        found = lines[-1]  # Python names the error last
    else:
        found = causes[-1] if causes else lines[0] if lines else type(error).__name__
    found = found.removeprefix("Caused by:")
    return one_line(re.sub(r"^\s*(?:\[[A-Z0-9_.]+\] )?|\s*SQLSTATE: \w+$", "", found))
