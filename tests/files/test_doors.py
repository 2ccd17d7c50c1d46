"""Nothing but our own errors leaves a public function of ``twigcast.files``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from twigcast import Matcher, files
from twigcast.errors import InternalError, TwigcastError
from twigcast.routing import Topology


class _Foe:
    """Whatever is asked of it raises."""

    def __init__(self, error: BaseException) -> None:
        object.__setattr__(self, "error", error)  # for a topology is frozen

    def _fail(self, *_args: object, **_given: object) -> Any:  # noqa: ANN401
        raise self.error

    __call__ = __iter__ = __len__ = __getitem__ = __fspath__ = __bool__ = __enter__ = _fail

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        raise self.error


class _Topology(_Foe, Topology):
    """What is no slip of the caller's, and fails all the same."""


class _Matcher(_Foe, Matcher):
    """Likewise."""

    to_bytes = _Foe._fail


ONE_ROW = files.SubscriptionFile((files.Subscription(1, "//a", line=1),), ())

Call = Callable[[Any], object]

CALLS: dict[str, Call] = {
    "compile_subscriptions": lambda foe: files.compile_subscriptions(ONE_ROW, foe),
    "gather_subscriptions": files.gather_subscriptions,
    "list_documents": lambda foe: list(files.list_documents(foe)),
    "open_entries": lambda foe: list(files.open_entries(foe)),
    "read_documents": lambda foe: list(files.read_documents(foe)),
    "read_index": lambda foe: files.read_index(_Path(foe)),
    "read_subscriptions": lambda foe: files.read_subscriptions(_Path(foe)),
    "read_topology": lambda foe: files.read_topology(_Path(foe)),
    "topology_text": lambda foe: files.topology_text(_Topology(foe.error)),
    "write_index": lambda foe: files.write_index("x", _Matcher(foe.error)),
    "write_topology": lambda foe: files.write_topology(_Topology(foe.error), "x.json"),
}


class _Path:
    """A path that raises when it is asked for its text."""

    def __init__(self, foe: _Foe) -> None:
        self._foe = foe

    def __fspath__(self) -> str:
        return self._foe()  # type: ignore[no-any-return]


def test_every_public_function_is_tried() -> None:
    public = {name for name in files.__all__ if inspect.isfunction(getattr(files, name))}
    assert public == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "error", [KeyError("b"), RecursionError(), MemoryError(), UnicodeError("x"), StopIteration()]
)
def test_what_nobody_foresaw_leaves_as_one_of_ours(name: str, error: Exception) -> None:
    with pytest.raises(InternalError) as caught:
        CALLS[name](_Foe(error))
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), TwigcastError("ours")])
def test_interrupts_and_our_own_errors_leave_as_they_are(name: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        CALLS[name](_Foe(error))
    assert caught.value is error
