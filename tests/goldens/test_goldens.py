"""What people can see is as it was recorded; the difference is told line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.goldens.every_golden import EVERY_GOLDEN, missing
from tests.goldens.golden import RECORDED, RECORDED_BYTES_MAX, Golden, Need, difference

_REMEDY = "python -m tests.goldens.record, and a line in the CHANGELOG"
_SESSION = (pytest.mark.spark, pytest.mark.xdist_group("spark"))


def _param(golden: Golden) -> object:
    reason = missing(golden)
    marks = [pytest.mark.skipif(reason is not None, reason=reason or "")]
    if golden.need is Need.SESSION:
        marks += _SESSION
    if golden.is_long:
        marks.append(pytest.mark.deep)
    return pytest.param(golden, marks=marks, id=golden.name)


@pytest.mark.parametrize("golden", [_param(golden) for golden in EVERY_GOLDEN])
def test_what_people_see_is_as_recorded(
    golden: Golden, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if golden.need is Need.SESSION:
        request.getfixturevalue("spark")
    if changed := difference(golden, golden.produce(tmp_path)):
        pytest.fail(f"{changed}\n\nif users are to see this: {_REMEDY}", pytrace=False)


def test_every_recorded_file_is_somebodys() -> None:
    names = [golden.name for golden in EVERY_GOLDEN]
    assert len(names) == len(set(names))
    assert {path.name for path in RECORDED.iterdir()} == set(names)


def test_what_is_recorded_can_be_read_in_a_review() -> None:
    assert sum(path.stat().st_size for path in RECORDED.iterdir()) < RECORDED_BYTES_MAX


def test_a_difference_is_told_line_by_line(tmp_path: Path) -> None:
    golden = next(golden for golden in EVERY_GOLDEN if golden.name == "command-check.txt")
    told = golden.produce(tmp_path)
    changed = difference(golden, told.replace('"column":', '"place":', 1))
    assert changed.count('\n-out {"') == changed.count('\n+out {"') == 1
    assert '"place":' in changed


def test_what_was_never_recorded_differs() -> None:
    golden = Golden("none-such.txt", lambda _: "")
    assert difference(golden, "something") != ""
