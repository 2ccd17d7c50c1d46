"""Archives damaged at random are documents or errors that name them, and never anything else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.files.archive_mutations import KINDS, mutated_archive
from twigcast.errors import DocumentError, InternalError
from twigcast.files import read_documents

CASES = 150


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_archive_is_documents_and_errors_that_name_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    for seed in range(CASES):
        path.write_bytes(mutated_archive(kind, Random(f"{kind} {seed}")))
        for name, content in read_documents([path]):
            assert name.startswith(str(path))
            if isinstance(content, DocumentError):
                assert content.document == name
                assert not isinstance(content.__cause__, InternalError), f"seed {seed}"
