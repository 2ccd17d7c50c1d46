"""Empty paths are refused wherever a path comes in, and no file is waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import twigcast
from twigcast import files
from twigcast.errors import UsageError
from twigcast.files import opening, schemas
from twigcast.files.documents import arrivals, publications
from twigcast.files.opening import checked_path, open_regular, standard_input
from twigcast.files.subscriptions import change_feed as changes
from twigcast.files.writing import versioned_files as index
from twigcast.routing.topology.model import Topology
from twigcast.simulator import read_scenario

ENTRANCES: dict[str, Callable[[Any], object]] = {
    "read_documents": lambda path: list(files.read_documents(path)),
    "read_documents of several": lambda path: list(files.read_documents(["a.xml", path])),
    "list_documents": lambda path: list(files.list_documents(path)),
    "list_files": lambda path: list(publications.list_files(path)),
    "Arrivals": lambda path: list(arrivals.Arrivals([path]).look()),
    "read_subscriptions": files.read_subscriptions,
    "Matcher.from_file": twigcast.Matcher.from_file,
    "read_topology": files.read_topology,
    "write_topology": lambda path: files.write_topology(Topology.of({"brokers": ["a"]}), path),
    "Network": twigcast.Network,
    "read_schema": schemas.read_schema,
    "read_index": files.read_index,
    "write_index": lambda path: files.write_index(path, twigcast.Matcher()),
    "write_versioned": lambda path: index.write_versioned(
        path, stem="a", ending=".b", content=b"c"
    ),
    "waiting_files": changes.waiting_files,
    "read_change_file": lambda path: changes.read_change_file(path, "a.csv"),
    "read_scenario": read_scenario,
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "is empty"),
        ("a\0b.json", "no file can have the name"),
        ("a\ud800.json", "no file can have the name"),
        (b"a.json", "is text or a pathlib.Path, not bytes"),
        (7, "is text or a pathlib.Path, not int"),
    ],
    ids=["empty", "a zero", "half of a pair", "bytes", "a number"],
)
def test_a_path_that_can_be_none_is_refused_by_name(
    entrance: str, path: object, told: str, tmp_path: Path
) -> None:
    if entrance == "Network" and not isinstance(path, str):
        pytest.skip("whatever is no path is taken for a topology")
    with pytest.raises(UsageError, match=told):
        ENTRANCES[entrance](path)
    assert list(tmp_path.iterdir()) == [], "nothing was written"


def test_a_path_may_be_anything_that_stands_for_one() -> None:
    assert checked_path(Path("a") / "b", "a file") == os.path.join("a", "b")  # noqa: PTH118


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_pipe, _socket, Path.mkdir, _link_to_a_device])
def test_only_ordinary_files_are_opened(make: Callable[[Path], None]) -> None:
    make(Path("x"))
    with pytest.raises(OSError, match=r"no regular file|No such device"):
        open_regular("x")


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever file is opened has nothing to read yet, as /proc/kmsg has."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    monkeypatch.setattr(opening, "_opened", lambda _path: os.dup(reading))
    yield
    os.close(reading)
    os.close(writing)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("size", [-1, 1, 512])
def test_a_file_that_has_nothing_to_read_yet_is_not_at_its_end(size: int) -> None:
    with open_regular("a.xml") as file, pytest.raises(BlockingIOError):
        file.read(size)


@pytest.mark.usefixtures("silent")
def test_a_document_that_has_nothing_to_read_yet_is_refused() -> None:
    Path("a.xml").touch()
    ((_, content),) = files.read_documents("a.xml")
    assert isinstance(content, twigcast.DocumentError)
    assert content.reason == "it cannot be read: Resource temporarily unavailable"


def test_standard_input_is_waited_for_whatever_others_have_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(reading) as stdin, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", stdin)
        assert standard_input() is stdin.buffer
        assert os.get_blocking(reading)


@pytest.mark.parametrize("name", ["net.json", "net.toml"])
def test_a_topology_that_is_a_pipe_is_not_waited_for(name: str) -> None:
    os.mkfifo(name)
    with pytest.raises(UsageError, match="no regular file"):
        files.read_topology(name)


def test_a_change_that_is_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("a.csv")
    with pytest.raises(UsageError, match="no regular file"):
        changes.read_change_file(".", "a.csv")


def test_a_dtd_that_becomes_a_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("a.dtd")
    Path("b.dtd").write_text("<!ELEMENT a EMPTY>")
    looked_at = os.stat("b.dtd")  # noqa: PTH116
    monkeypatch.setattr(Path, "stat", lambda *_args, **_kwargs: looked_at)
    with pytest.raises(twigcast.SchemaError, match="cannot be read"):
        schemas.read_schema("a.dtd")
