"""The kernel without Python: its own programs for faults, and coverage-led ones where they can run.

A case is a stretch of seeds. ``reader_fuzz`` keeps one reader for many documents and compares it
with new ones; ``index_fuzz`` plays an index against the plain meaning of its patterns. Where
cargo-fuzz and a nightly toolchain are installed, libFuzzer leads two more by coverage, with
AddressSanitizer on (``kernel/fuzz``).
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from fuzz.target import ACCEPTED, Fault, Target
from fuzz.xml_text import random_document

_KERNEL: Final = Path(__file__).resolve().parents[2] / "kernel"
_TARGET: Final = _KERNEL / "target"
_BUILT: Final = _TARGET / "release" / "examples"
_LED_BUILT: Final = _KERNEL / "fuzz" / "target"

PROGRAMS: Final = ("reader_fuzz", "index_fuzz")
LED: Final = ("reader", "matching")
"""Led by coverage."""

_UNBOUNDED: Final = ("sh", "-c", 'ulimit -S -v unlimited && exec "$0" "$@"')
"""AddressSanitizer maps terabytes that it never uses; libFuzzer bounds what is used."""
_DOCUMENTS: Final = 20
_SEEDS: Final = 100
_RUNS: Final = 2_000
_BUILD_SECONDS: Final = 900
_DETAILS_MAX: Final = 3_000


class Case(msgspec.Struct):
    """A program, the first seed, and how many seeds, or runs of libFuzzer, there are."""

    program: str
    seed: int
    count: int


def generate(rng: Random) -> Case:
    """One of the programs that were built, with a seed."""
    program = rng.choice((*PROGRAMS, *_led()))
    seed = rng.randrange(1, 1 << 31)
    return Case(program, seed, _SEEDS if program in PROGRAMS else _RUNS)


def check(case: Case) -> str:
    """Run it to its end."""
    if case.program in PROGRAMS:
        _run([str(_BUILT / case.program), str(case.seed), str(case.count)], case.program)
    elif case.program in _led():
        _run_led(case)
    else:
        raise Fault("no such program", case.program)
    return ACCEPTED


def _run_led(case: Case) -> None:
    """Let libFuzzer begin with some documents; what it finds on its way is not kept."""
    (built,) = _LED_BUILT.glob(f"*/release/{case.program}")
    rng = Random(case.seed)
    with TemporaryDirectory(prefix="twigcast-fuzz-") as folder:
        for number in range(_DOCUMENTS):
            (Path(folder) / str(number)).write_bytes(random_document(rng))
        options = [f"-seed={case.seed}", f"-runs={case.count}", f"-artifact_prefix={folder}/"]
        _run([*_UNBOUNDED, str(built), *options, folder], case.program)


def _run(command: list[str], program: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        output = (done.stderr + done.stdout)[-_DETAILS_MAX:]
        raise Fault(f"{program} fails", f"{' '.join(command)}\n{output}")


@cache
def _led() -> tuple[str, ...]:
    """The programs led by coverage that are there."""
    return tuple(name for name in LED if list(_LED_BUILT.glob(f"*/release/{name}")))


def prepare() -> str | None:
    """Build what can be built; the kernel's programs need cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return "there is no cargo"
    manifest = str(_KERNEL / "core" / "Cargo.toml")
    wanted = [option for program in PROGRAMS for option in ("--example", program)]
    # Cargo may have been told to build elsewhere (CARGO_TARGET_DIR); we look here.
    place = ("--manifest-path", manifest, "--target-dir", str(_TARGET))
    built = _ran([cargo, "build", "--quiet", "--release", *place, *wanted])
    if built is not None:
        return f"the kernel's programs cannot be built: {built}"
    if shutil.which("cargo-fuzz") is not None:
        # Without a nightly toolchain this fails, and the others run alone.
        _ran([cargo, "+nightly", "fuzz", "build"])
    return None


def _ran(command: list[str]) -> str | None:
    """Run a command; the last line of what it said if it failed."""
    done = subprocess.run(
        command,
        cwd=_KERNEL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_BUILD_SECONDS,
    )
    return (done.stderr.strip() or "?").splitlines()[-1] if done.returncode else None


TARGET: Final = Target(
    name="kernel",
    summary="the kernel's reader and index without Python, led by coverage where possible",
    kind=Case,
    generate=generate,
    check=check,
    prepare=prepare,
)
