"""Build the wheels, and try them as a user would: ``make wheels``.

Two wheels come to ``dist``: ``twigcast``, pure Python, and ``twigcast-kernel``, compiled once for
every Python of this platform (abi3). Then, for each Python on this machine that is new enough, an
empty environment is made in a temporary folder, away from the checkout. ``twigcast[kernel]`` is
installed into it from ``dist``, and the examples of the README are run there. The first Python gets
the extra ``spark`` as well, and the examples that need it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.environment import answer_of, clean_environment, rust_version, write_line
from tools.readme import FEED_TABLE, Example, examples, write_files

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
FIND_JAVA = "from twigcast.spark.session.java import find_java; print(find_java().version)"
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")


class WheelError(Exception):
    """A wheel cannot be built, or does not do what it should; the text says which and how."""


def main() -> int:
    """Build, install, run the examples; returns the exit code."""
    try:
        wheel, kernel = build()
        for number, python in enumerate(pythons()):
            with tempfile.TemporaryDirectory(prefix="twigcast-wheels-") as folder:
                try_wheels(python, Path(folder), wheel, kernel, spark=number == 0)
    except WheelError as error:
        write_line(f"wheels: {error}")
        return 1
    return 0


def build() -> tuple[Path, Path | None]:
    """Both wheels; the second is None where there is no Rust."""
    shutil.rmtree(DIST, ignore_errors=True)
    tool = Path(sys.executable).with_name("maturin")
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(DIST)])
    if rust_version() is None:
        write_line("No Rust found; only the wheel of twigcast is built")
        return the_wheel("twigcast-*-py3-none-any.whl"), None
    write_line("Building the kernel's wheel (Rust, a minute or two)")
    cargo = ["--manifest-path", str(ROOT / "kernel" / "Cargo.toml")]
    run([str(tool), "build", "--release", "--out", str(DIST), *cargo])
    return the_wheel("twigcast-*-py3-none-any.whl"), the_wheel("twigcast_kernel-*-abi3-*.whl")


def the_wheel(pattern: str) -> Path:
    """The one wheel in ``dist`` of this form."""
    found = list(DIST.glob(pattern))
    if len(found) != 1:
        built = ", ".join(sorted(path.name for path in DIST.iterdir())) or "nothing"
        raise WheelError(f"{pattern} was expected in dist, and there is {built}")
    write_line(f"  dist/{found[0].name} ({found[0].stat().st_size / 1e6:.1f} MB)")
    return found[0]


def pythons() -> Iterator[Path]:
    """The Pythons to try: the one that runs this, then all others that can be found."""
    own = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    yield own if own.exists() else Path(sys.executable)
    seen = {sys.version_info[:2]}
    ask = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    for name in PYTHONS:
        answer = answer_of([name, "-I", "-c", ask])
        path = shutil.which(name)
        if answer is None or path is None:
            continue
        major, minor = map(int, answer.split())
        if (major, minor) not in seen:
            seen.add((major, minor))
            yield Path(path)


def try_wheels(
    python: Path, folder: Path, wheel: Path, kernel: Path | None, *, spark: bool
) -> None:
    """Install the wheels into an empty environment, and run the examples there."""
    write_line(f"Trying them with {answer_of([str(python), '--version'])}")
    run([str(python), "-I", "-m", "venv", str(folder / "environment")])
    own = folder / "environment" / "bin" / "python"
    extra = "[kernel]" if kernel else ""
    install(own, f"{wheel}{extra}")
    installed = time.monotonic()
    work = folder / "work"
    work.mkdir()
    write_files(work)
    there = examples()
    run_example(own, work, there[0])
    write_line(
        f"  the first example ran {time.monotonic() - installed:.1f} s after the installation"
    )
    start = time.monotonic()
    run([str(own), "-I", "-c", "import twigcast"], cwd=work)
    write_line(f"  import twigcast: {time.monotonic() - start:.2f} s, the start of Python included")
    others = [example for example in there[1:] if not example.needs_spark]
    for example in others:
        run_example(own, work, example)
    run([str(own.with_name("twigcast")), "doctor"], cwd=work)
    on_spark = [example for example in there if example.needs_spark] if spark else []
    if on_spark:
        install(own, f"{wheel}[spark]")
        if answer_of([str(own), "-I", "-c", FIND_JAVA]) is None:
            install(own, f"{wheel}[java]")
        run([str(own), "-I", "-c", FEED_TABLE], cwd=work)
        for example in on_spark:
            run_example(own, work, example)
    write_line(f"  {len(others) + 1} examples of the README ran, and {len(on_spark)} on Spark")


def install(python: Path, what: str) -> None:
    """Install from ``dist``, and what depends on it from where pip looks."""
    pins = ["--constraint", str(ROOT / "constraints.txt")]
    run([str(python), "-I", "-m", "pip", "install", "--find-links", str(DIST), *pins, what])


def run_example(python: Path, folder: Path, example: Example) -> None:
    """Run an example of the README; WheelError if it prints something else than it should."""
    printed = run([str(python), "-I", "-c", example.code], cwd=folder)
    if example.output is not None and printed != example.output:
        raise WheelError(
            f"an example of the README printed\n{printed}\nand not\n{example.output}\n"
            f"The example:\n{example.code}"
        )


def run(command: Sequence[str], cwd: Path = ROOT) -> str:
    """What a command prints; WheelError with all of it if it fails."""
    done = subprocess.run(  # noqa: S603 (our own tools)
        command,
        cwd=cwd,
        env=clean_environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise WheelError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
