"""Spark's failures, without the hundred lines of Java around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import (  # type: ignore[import-untyped]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
)
from pyspark.errors import PySparkException

from twigcast.display import one_line
from twigcast.errors import TwigcastError
from twigcast.spark.session.java_process import has_gone

SPARK_FAILURES = (PySparkException, Py4JError, ConnectionError, EOFError)
"""Everything that Spark raises here: its own errors, those of Java that it did not foresee, and
what becomes of a talk with a Java machine that has gone."""

_GONE = (Py4JNetworkError, ConnectionError, EOFError)

_TELLING = re.compile(r"Cannot run program .*|Python worker exited unexpectedly \(crashed\)")
"""What is behind these says less: that there is no such file, that a stream has ended."""

_JAVA_GONE = (
    "Spark's Java machine has gone: it was killed, or had no memory left; "
    "run again, in a new session (start_session)"
)


def is_java_gone(error: BaseException) -> bool:
    """Whether a failure is that nobody answers any more."""
    return isinstance(error, _GONE) or (type(error) is Py4JError and has_gone(soon=True))


def cause(error: BaseException) -> str:
    """The innermost cause that a failure names, as one line.

    >>> cause(PySparkException("[NO] It is gone. SQLSTATE: 42"))
    'It is gone.'
    """
    if is_java_gone(error):
        return _JAVA_GONE
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


@contextmanager
def plain_spark_errors(failed: str) -> Iterator[None]:
    """What Spark or a disk fails with, as one sentence that begins with what failed."""
    try:
        yield
    except SPARK_FAILURES as error:
        raise TwigcastError(f"{failed}: {cause(error)}") from error
    except OSError as error:
        raise TwigcastError(f"{failed}: {error}") from error
