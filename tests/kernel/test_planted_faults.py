"""Faults planted into the evaluator of the kernel are found by the questions that quick tests ask.

A copy of the kernel's core is built once with all faults of ``planted/faults.py``, of which one at
a time is switched on. Each must make some answer to :func:`tests.xpath_cases.questions` wrong:
found one by one, all at once, or by the index.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel.planted.copies import KERNEL, build
from tests.kernel.planted.faults import FAULTS, Fault
from tests.source_places import place_of
from tests.xpath_cases import DOCUMENTS, NAMESPACES, questions
from twigcast.language import Pattern

_PREFIXED = re.compile(r"\bp:")


def lines() -> Iterator[str]:
    """The questions as the driver reads them: as they are written, and as canonical texts."""
    for content in DOCUMENTS:
        yield f"d {content.hex()}"
        answers: dict[str, bool] = {}
        for question, held in questions(content).items():
            answers[Pattern.parse(question, NAMESPACES).text] = held
            if not _PREFIXED.search(question):
                answers[question] = held
        for text, held in answers.items():
            yield f"{held:d} {text.encode().hex()}"


@pytest.fixture(scope="session")
def differences(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """What shows each fault by its number, 0 being the kernel as it is."""
    if shutil.which("cargo") is None:
        pytest.skip("no Rust toolchain: cargo is not there")
    folder = tmp_path_factory.mktemp("planted")
    program = build(folder, FAULTS)
    cases = folder / "cases"
    cases.write_text("\n".join(lines()) + "\n")
    run = subprocess.run(
        [program, cases, str(len(FAULTS))], capture_output=True, text=True, check=True
    )
    shown = (line.partition("\t") for line in run.stdout.splitlines())
    return {int(number): difference for number, _, difference in shown}


def test_faults_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(one.what for one in FAULTS).items() if count > 1] == []


@pytest.mark.parametrize("name", sorted({fault.file for fault in FAULTS}))
def test_what_faults_replace_is_in_the_kernel_once(name: str) -> None:
    text = Path(KERNEL / "core" / "src" / name).read_text(encoding="utf-8")
    for fault in FAULTS:
        if fault.file == name:
            start, end = place_of(fault.original, text)
            assert start < end


@pytest.mark.deep
@pytest.mark.xdist_group("planted_in_kernel")
def test_without_a_fault_all_answers_are_right(differences: dict[int, str]) -> None:
    assert differences[0] == ""
    assert len(differences) == 1 + len(FAULTS)


@pytest.mark.deep
@pytest.mark.xdist_group("planted_in_kernel")
@pytest.mark.parametrize(
    ("number", "fault"), list(enumerate(FAULTS, 1)), ids=[one.what for one in FAULTS]
)
def test_a_planted_fault_is_found(number: int, fault: Fault, differences: dict[int, str]) -> None:
    assert differences[number], f"nothing shows it: {fault}"
