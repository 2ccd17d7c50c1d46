"""Archives, damaged: each member is bytes within the limit, or an error that says why not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec

from fuzz.cases import as_bytes, as_text
from fuzz.mutation import mutated, spliced
from fuzz.scratch import scratch_file
from fuzz.target import ACCEPTED, REFUSED, Fault, Target
from twigcast.errors import DocumentError, InternalError
from twigcast.files import PublicationLimits, read_documents

LIMITS: Final = PublicationLimits(document_bytes_max=2_000, members_max=50)
_PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".tar": lambda content: content,
    ".tar.gz": lambda content: gzip.compress(content, mtime=0),
    ".tar.bz2": bz2.compress,
    ".tar.xz": lzma.compress,
    ".xml.gz": lambda content: gzip.compress(content[:3_000], mtime=0),
}
_NAMES: Final = (
    "a.xml",
    "b.xml",
    "x/c.xml",
    "../d.xml",
    "/e.xml",
    "a.xml",
    "in.zip",
    "é.xml",
    "\n.xml",
)
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_KINDS: Final = (
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.DIRTYPE,
    tarfile.CHRTYPE,
    b"g",
    b"x",
    b"L",
)


class Case(msgspec.Struct):
    """A file and the name it has."""

    name: str
    content: str


def generate(rng: Random) -> Case:
    """An archive of any kind, damaged in most cases before or after it is compressed."""
    if rng.randrange(2):
        name, content = "case.zip", _zipped(rng)
        if rng.randrange(8) == 0:
            content = spliced(rng, content, _zipped(rng))
        return Case(name, as_text(_maybe_damaged(rng, content)))
    ending = rng.choice(list(_PACKERS))
    plain = _maybe_damaged(rng, _tarred(rng))
    packed = _PACKERS[ending](plain)
    return Case(
        f"case{ending}", as_text(packed if rng.randrange(2) else _maybe_damaged(rng, packed))
    )


def _maybe_damaged(rng: Random, content: bytes) -> bytes:
    return mutated(rng, content, times_max=4) if rng.randrange(5) else content


def _members(rng: Random) -> list[tuple[str, bytes]]:
    contents = (b"<a/>", b"<a><b/></a>", b"", b"x" * 2_001, b"<a>" + b" " * 1_000 + b"</a>")
    return [(rng.choice(_NAMES), rng.choice(contents)) for _ in range(rng.choice((0, 1, 2, 3, 60)))]


def _zipped(rng: Random) -> bytes:
    file = io.BytesIO()
    method = rng.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in _members(rng):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = method
            if any(name == listed.filename for listed in archive.filelist):
                archive.NameToInfo.pop(name)  # so that nobody is warned of a name that comes twice
            archive.writestr(entry, content)
    return file.getvalue()


def _tarred(rng: Random) -> bytes:
    file = io.BytesIO()
    form = rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in _members(rng):
            header = tarfile.TarInfo(name * rng.choice((1, 1, 1, 30)))
            header.size = len(content)
            if rng.randrange(10) == 0:
                header.type = rng.choice(_KINDS)
            archive.addfile(header, io.BytesIO(content))
    return file.getvalue()


def check(case: Case) -> str:
    """Read all of it."""
    path = scratch_file(case.name, as_bytes(case.content))
    refused = False
    for count, (name, content) in enumerate(read_documents(path, limits=LIMITS)):
        if count > LIMITS.members_max:
            raise Fault("too many members", name)
        if isinstance(content, InternalError):
            raise content
        if isinstance(content, DocumentError):
            refused = True
        elif len(content) > LIMITS.document_bytes_max:
            raise Fault("no document", f"{name}: {content!r}")
    return REFUSED if refused else ACCEPTED


TARGET: Final = Target(
    name="archives",
    summary="damaged zip and tar archives",
    kind=Case,
    generate=generate,
    check=check,
)
