"""What functions of a column answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from twigcast.files.writing.versioned_files import write_versioned
from twigcast.matching import Matcher
from twigcast.spark.storage.sources import load_subscriptions
from twigcast.spark.worker.columns import matching_names
from twigcast.spark.worker.labels import labels_bytes, labels_of, loaded_names


def _matcher(*expressions: str) -> Matcher:
    matcher = Matcher()
    for position, expression in enumerate(expressions):
        matcher.add(position, expression)
    return matcher


def test_names_stand_for_positions_and_a_refused_document_is_null(tmp_path: Path) -> None:
    content = labels_bytes(labels_of(load_subscriptions(["//a", "//b", "/a"])))
    file = write_versioned(tmp_path, stem="labels", ending="", content=content)
    names = loaded_names(str(file.path))
    contents = pa.array([b"<a><b/></a>", b"<a", b"<c/>", None, b"<a/>"], pa.binary())
    answer = matching_names(contents, _matcher("//a", "//b", "/a"), names)
    assert answer.type == pa.list_(pa.string())
    assert answer.to_pylist() == [["1", "2", "3"], None, [], None, ["1", "3"]]
    assert matching_names(contents.slice(2, 3), _matcher("/a"), names).to_pylist() == [
        [],
        None,
        ["1"],
    ]
