"""Nothing but our own errors leaves a public function of ``twigcast.files``.

What a caller's own path or function raises is another matter: ``tests/test_callers_code.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast import Matcher, files
from twigcast.errors import InternalError, TwigcastError
from twigcast.files.documents.publications import EntryKind
from twigcast.routing import Topology

TOPOLOGY = Topology(("A",))
ROW = files.SubscriptionFile((files.Subscription(1, "//a", line=1),), ())
ENTRY = files.Entry(EntryKind.FILE, "a.xml", "a.xml")

Call = Callable[[Path], object]

CALLS: dict[str, tuple[Call, str]] = {
    "compile_subscriptions": (
        lambda _: files.compile_subscriptions(ROW, lambda *_: None),
        "subscriptions.file.caller_result",
    ),
    "gather_subscriptions": (
        lambda _: files.gather_subscriptions([]),
        "subscriptions.file.each_of",
    ),
    "list_documents": (
        lambda folder: list(files.list_documents(folder)),
        "documents.publications._list_path",
    ),
    "open_entries": (
        lambda _: list(files.open_entries([ENTRY])),
        "documents.publications._documents_of",
    ),
    "read_documents": (
        lambda folder: list(files.read_documents(folder)),
        "documents.publications._list_path",
    ),
    "read_index": (
        lambda folder: files.read_index(folder / "x.index"),
        "writing.versioned_files._mapped",
    ),
    "read_subscriptions": (
        lambda _: files.read_subscriptions(__file__),
        "subscriptions.file.form_of",
    ),
    "read_topology": (
        lambda folder: files.read_topology(folder / "x.json"),
        "topologies._content",
    ),
    "topology_text": (lambda _: files.topology_text(TOPOLOGY), "topologies._rows"),
    "write_index": (
        lambda folder: files.write_index(folder, Matcher()),
        "writing.versioned_files.write_versioned",
    ),
    "write_topology": (
        lambda folder: files.write_topology(TOPOLOGY, folder / "x.json"),
        "topologies.topology_text",
    ),
}
"""Each public function, and something below it that is made to fail."""


def test_every_public_function_is_tried() -> None:
    public = {name for name in files.__all__ if inspect.isfunction(getattr(files, name))}
    assert public == set(CALLS)


@pytest.fixture
def failing(
    name: str, error: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[], object]:
    call, below = CALLS[name]

    def fail(*_: object, **__: object) -> None:
        raise error.with_traceback(None)

    monkeypatch.setattr(f"twigcast.files.{below}", fail)
    return lambda: call(tmp_path)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "error", [KeyError("b"), RecursionError(), MemoryError(), UnicodeError("x"), StopIteration()]
)
def test_what_nobody_foresaw_leaves_as_one_of_ours(failing: Callable[[], object]) -> None:
    with pytest.raises(InternalError) as caught:
        failing()
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), TwigcastError("ours")])
def test_interrupts_and_our_own_errors_leave_as_they_are(
    failing: Callable[[], object], error: BaseException
) -> None:
    with pytest.raises(type(error)) as caught:
        failing()
    assert caught.value is error
