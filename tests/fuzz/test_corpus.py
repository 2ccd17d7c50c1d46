"""Cases that once failed fail no more. Each has its story in the name of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.cases import read_case
from fuzz.target import find_target, target_names

CORPUS = Path(__file__).resolve().parents[2] / "fuzz" / "corpus"
FILES = sorted(CORPUS.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_once_failed_holds(path: Path) -> None:
    target = find_target(path.parent.name)
    if target.prepare() is not None:
        pytest.skip(f"{target.name} cannot run here")
    assert target.check(read_case(target, path))


def test_every_folder_of_the_corpus_is_that_of_a_target() -> None:
    assert {path.parent.name for path in FILES} <= set(target_names())
