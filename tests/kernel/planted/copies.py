"""A copy of the kernel's core that has all faults, of which one can be planted at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.kernel.planted.faults import Fault
from tests.source_places import place_of

KERNEL: Final = Path(__file__).resolve().parents[3] / "kernel"
_DRIVER: Final = Path(__file__).with_name("driver.rs")

_PLANTED: Final = """
/// Which fault is planted.
#[allow(missing_docs)]
pub mod planted {
    use std::sync::atomic::{AtomicU32, Ordering};

    static FAULT: AtomicU32 = AtomicU32::new(0);

    pub fn plant(fault: u32) {
        FAULT.store(fault, Ordering::Relaxed);
    }

    pub fn is(fault: u32) -> bool {
        FAULT.load(Ordering::Relaxed) == fault
    }
}
"""


def with_faults(text: str, faults: Iterable[tuple[int, Fault]]) -> str:
    """A file in which each fault, by its number, stands beside what it replaces."""
    places: dict[tuple[int, int], list[tuple[int, str]]] = {}
    for number, fault in faults:
        start, end = place_of(fault.original, text)
        places.setdefault((start, end), []).append((number, fault.planted))
    behind = len(text) + 1
    for start, end in sorted(places, reverse=True):
        if end > behind:
            raise AssertionError(f"faults inside each other at {text[start:end]!r}")
        found = text[start:end]
        for number, planted in places[start, end]:
            found = f"(if crate::planted::is({number}) {{ {planted} }} else {{ {found} }})"
        text, behind = text[:start] + found + text[end:], start
    return text


def build(folder: Path, faults: Sequence[Fault]) -> Path:
    """The program that asks a copy with faults; they count from 1."""
    core = folder / "core"
    shutil.copytree(KERNEL / "core" / "src", core / "src")
    shutil.copy(KERNEL / "core" / "Cargo.toml", core)
    (core / "examples").mkdir()
    shutil.copy(_DRIVER, core / "examples" / "planted.rs")
    whole = (KERNEL / "Cargo.toml").read_text(encoding="utf-8")
    (folder / "Cargo.toml").write_text(whole[: whole.index("[package]")] + _PROFILE)
    for name in dict.fromkeys(fault.file for fault in faults):
        path = core / "src" / name
        own = [(at, one) for at, one in enumerate(faults, 1) if one.file == name]
        path.write_text(with_faults(path.read_text(encoding="utf-8"), own), encoding="utf-8")
    with (core / "src" / "lib.rs").open("a", encoding="utf-8") as file:
        file.write(_PLANTED)
    words = ["cargo", "build", "--offline", "--quiet", "--example", "planted", "--target-dir"]
    target = folder / "target"
    quiet = os.environ | {"RUSTFLAGS": "-A warnings"}
    run = subprocess.run(
        [*words, str(target)], cwd=core, env=quiet, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return target / "debug" / "examples" / "planted"


_PROFILE: Final = """
[profile.dev]
opt-level = 1
debug = false
"""
