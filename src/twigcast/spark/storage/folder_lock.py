"""One run at a time writes into a folder.

Two that write into one would mix their tables: each takes the parts in the staging folder for its
own. So the folder is locked from before the first part until behind the manifest. The lock ends
with the process, however that ends, and leaves nothing behind; places that only Spark can write to
have none.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from twigcast.errors import UsageError
from twigcast.files.writing.locks import lock_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twigcast.spark.storage.batches import Store


@contextmanager
def alone(store: Store, name: str = "", *, by: str = "run") -> Iterator[None]:
    """Hold the lock of a folder in it; a :class:`UsageError` if another run or stream has it."""
    folder = store.folder(name)
    if folder is None:
        yield
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not lock_at_once(opened):
            raise UsageError(
                f"another {by} is writing into {folder} right now; wait for its end, or choose "
                "another folder"
            )
        yield
    finally:
        os.close(opened)
