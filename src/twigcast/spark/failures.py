"""What Spark says when it fails, without the hundred lines of Java around it."""

from __future__ import annotations

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

SPARK_FAILURES = (PySparkException, Py4JError)
"""Everything that Spark raises here: its own errors, and those of Java that it did not foresee."""


def cause(error: BaseException) -> str:
    """The last cause that a failure names, as one line."""
    text = str(error.java_exception) if isinstance(error, Py4JJavaError) else str(error)
    causes = [line for line in text.splitlines() if line.startswith("Caused by:")]
    return (causes[-1].removeprefix("Caused by:") if causes else text.partition("\n")[0]).strip()
