"""The examples of README.md, and the files that they read.

The tests run them in this checkout, and ``make wheels`` where only the wheels are installed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["FEED_TABLE", "FILES", "Example", "examples", "write_files"]

README: Final = Path(__file__).resolve().parents[1] / "README.md"

FILES: Final = {
    "feed/dear.xml": "<trade><price>120</price></trade>",
    "feed/cheap.xml": "<trade><price>80</price></trade>",
    "subscriptions.csv": "id,broker,xpath\ndear,oslo,//trade[price > 100]\nany,rome,/trade\n",
    "offices.toml": 'links = [["london", "berlin"], ["berlin", "oslo"], ["berlin", "rome"]]\n',
}
"""What a reader of the examples is taken to have, by the names they use."""

FEED_TABLE: Final = """
import pyarrow, pyarrow.parquet
content = "<feed><trade urgent='1'><price>120</price></trade></feed>"
pyarrow.parquet.write_table(pyarrow.table({"id": [1], "content": [content]}), "feed.parquet")
"""
"""Lines of Python that write the table which the examples read; they need pyarrow."""

_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


class Example(NamedTuple):
    """Lines of Python, and what they print if the README shows it."""

    code: str
    output: str | None

    @property
    def needs_spark(self) -> bool:
        """Whether the extra ``spark`` and a Java are needed."""
        return "twigcast.spark" in self.code


def examples(text: str | None = None) -> list[Example]:
    """The examples of the README, in order; the output is the block of text right behind."""
    found = list(_BLOCK.finditer(README.read_text(encoding="utf-8") if text is None else text))
    followers = [*found[1:], None]
    return [
        Example(block["text"], behind["text"] if behind and behind["language"] == "text" else None)
        for block, behind in zip(found, followers, strict=True)
        if block["language"] == "python"
    ]


def write_files(folder: Path) -> None:
    """Put the files that the examples read into a folder."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
