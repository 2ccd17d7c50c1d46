"""Documents by their paths.

A :class:`pathlib.Path` is always a path. A text is a path unless it begins with ``<``, after white
space and a byte-order mark: then it is XML. So a text from a stranger belongs into
``Document.parse``, which opens nothing. Compressed files are read as what is in them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from twigcast.display import printable, shortened
from twigcast.errors import DocumentError, UsageError
from twigcast.language.document.content import Content, Source, content_of
from twigcast.slips import caller_result

__all__ = ["NAME_CHARACTERS_MAX", "opened", "path_of"]

NAME_CHARACTERS_MAX = 200
"""How much of a name an error repeats: a text that was meant to be XML may be long."""


def path_of(source: object) -> str | None:
    """The path, if a document is given by its path.

    >>> path_of("feed/a.xml"), path_of(" <a/>")
    ('feed/a.xml', None)
    """
    if isinstance(source, str):
        start = source.removeprefix("\ufeff").lstrip()
        return None if not start or start[0] == "<" else source
    if not isinstance(source, os.PathLike):
        return None
    try:
        return os.fsdecode(caller_result(os.fspath, source))
    except TypeError:  # It says that it is a path, and gives no text.
        kind = type(source).__name__
        raise UsageError(f"the path of a document is text or a pathlib.Path, not {kind}") from None


def opened(source: Source, *, bytes_max: int) -> Content:
    """The bytes of a document in any form, a path included, and how errors are to call it.

    Raises :class:`DocumentError`, with the name, if there is no such file or it cannot be read.
    """
    path = path_of(source)
    if path is None:
        return content_of(source, bytes_max=bytes_max)
    name = shortened(printable(path), NAME_CHARACTERS_MAX)
    try:
        with Path(path).open("rb") as file:
            return _unpacked(file, name, bytes_max=bytes_max)
    except FileNotFoundError:
        reason = "there is no such file"
        if isinstance(source, str):
            reason += "; a text is the path of a document unless it begins with '<'"
    except IsADirectoryError:
        reason = "it is a folder; give the documents in it one by one"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
    except ValueError as error:  # a path with a zero byte
        reason = f"cannot be read: {error}"
    raise DocumentError(reason, document=name)


def _unpacked(file: BinaryIO, name: str, *, bytes_max: int) -> Content:
    """What is in a file, which may be compressed."""
    # A program that opens no file by its path loads nothing of this.
    from twigcast.files.archives.unpacking import Unpacked
    from twigcast.files.limits import PublicationLimits, bounded_read

    limits = PublicationLimits(document_bytes_max=bytes_max)
    content = bounded_read(Unpacked(file, name, limits), name, limits)
    if isinstance(content, DocumentError):
        raise content
    return Content(content, name)
