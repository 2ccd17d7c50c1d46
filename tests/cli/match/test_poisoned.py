"""Documents that no reader takes, among others: each is refused by name, the rest is answered."""

from __future__ import annotations

import json
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engines import EVERY_ENGINE
from tests.poisoned import GOOD, POISONED

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

CONTENTS = {
    name: content
    for number, poisoned in enumerate(POISONED.values())
    for name, content in ((f"{number:02}-bad.xml", poisoned), (f"{number:02}-good.xml", GOOD))
}


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """The documents in a folder, in a zip and in a tar."""
    (tmp_path / "rules.txt").write_text("//b\n//c\n//a[count(b) = 1]\n")
    (tmp_path / "feed").mkdir()
    for name, content in CONTENTS.items():
        (tmp_path / "feed" / name).write_bytes(content)
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
        for name, content in CONTENTS.items():
            archive.writestr(name, content)
    with tarfile.open(tmp_path / "feed.tar.gz", "w:gz") as tar:
        for name, content in CONTENTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, BytesIO(content))
    return ["feed", "feed.zip", "feed.tar.gz"]


@pytest.mark.parametrize("options", [(), ("--jobs", "2")], ids=["alone", "jobs"])
@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_is_poisoned_is_refused_alone(
    twigcast: Twigcast, places: list[str], engine: str, options: tuple[str, ...]
) -> None:
    words = ("match", "rules.txt", *places, "--engine", engine, *options)
    result = twigcast(*words, "--json")
    assert result.exit_code == 1, result.stderr
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(records) == len(places) * len(CONTENTS)
    for record in records:
        if record["document"].endswith("good.xml"):
            assert record["matches"] == [1, 3], record
        else:
            assert "matches" not in record
            assert record["error"], record
            assert "bug in Twigcast" not in str(record)
    lines = twigcast(*words)
    assert lines.exit_code == 1
    assert len(lines.stdout.splitlines()) == len(places) * len(POISONED)
