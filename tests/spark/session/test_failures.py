"""Of a hundred lines of Java, the one that says what went wrong."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, PySparkException, PythonException

from twigcast.spark.session.failures import cause

WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "x.py", line 5, in f
ZeroDivisionError: the sky fell"""

JAVA = """Job aborted due to stage failure:
\tat org.apache.spark.A
Caused by: org.apache.spark.B: it went wrong
\tat org.apache.spark.C
Caused by: java.io.IOException: No space left on device
\tat java.base"""

CRASHED = """Lost task: SparkException: Python worker exited unexpectedly (crashed)
\tat org.apache.spark.A
Caused by: java.io.EOFException
\tat java.base"""

ABSENT = """Job aborted: IOException: Cannot run program "./env/bin/python": error=2, No such file
\tat java.base
Caused by: java.io.IOException: error=2, No such file"""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PythonException(WORKER), "ZeroDivisionError: the sky fell"),
        (PySparkException(JAVA), "java.io.IOException: No space left on device"),
        (PySparkException(CRASHED), "Python worker exited unexpectedly (crashed)"),
        (PySparkException(ABSENT), 'Cannot run program "./env/bin/python": error=2, No such file'),
        (AnalysisException("[PATH_NOT_FOUND] No /x.\nmore SQLSTATE: 42K03"), "No /x."),
        (AnalysisException("\n  plain"), "plain"),
        (PySparkException(""), "PySparkException"),
    ],
)
def test_the_innermost_cause_is_one_line(error: PySparkException, expected: str) -> None:
    assert cause(error) == expected


def test_a_cause_is_one_line_whatever_a_stranger_called_a_file() -> None:
    assert cause(PySparkException("gone: a\x1b[2J\u2028.xml")) == r"gone: a\x1b[2J\u2028.xml"
