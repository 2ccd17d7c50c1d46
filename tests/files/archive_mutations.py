"""Archives of all kinds, damaged in the places where it hurts, drawn from a seed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from random import Random

KINDS = ("zip", "tar", "tar.gz", "tar.bz2", "tar.xz")

_NAMES = (
    "a.xml",
    "b.xml",
    "d/c.xml",
    "../x.xml",
    "/y.xml",
    "caf\xe9.xml",
    "d" * 90 + "/" + "n" * 90 + ".xml",
    "d/",
    "",
)
_CONTENTS = (b"<a/>", b"", b"<b>" + b"x" * 3_000 + b"</b>", bytes(range(256)) * 8)
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
_PACKED: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}


def mutated_archive(kind: str, rng: Random) -> bytes:
    """An archive of a few members, damaged once or several times; a tar before it is packed."""
    plain = _zip(rng) if kind == "zip" else _tar(rng)
    for _ in range(rng.randint(1, 4)):
        plain = rng.choice(_MUTATIONS)(plain, rng)
    if kind == "zip":
        return plain
    packed = _PACKED[kind](plain)
    return rng.choice(_MUTATIONS)(packed, rng) if rng.random() < 0.3 else packed


def _zip(rng: Random) -> bytes:
    packed = io.BytesIO()
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")
        for _ in range(rng.randint(0, 4)):
            with archive.open(
                _listed(rng, methods),
                "w",
                force_zip64=rng.random() < 0.2,
            ) as member:
                member.write(rng.choice(_CONTENTS))
        archive.comment = rng.randbytes(rng.choice((0, 0, 5, 300)))
    return packed.getvalue()


def _listed(rng: Random, methods: tuple[int, ...]) -> zipfile.ZipInfo:
    listed = zipfile.ZipInfo(rng.choice(_NAMES))
    listed.compress_type = rng.choice(methods)
    return listed


def _tar(rng: Random) -> bytes:
    packed = io.BytesIO()
    form = rng.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT))
    headers = {"comment": "x"} if rng.random() < 0.3 else {}
    with tarfile.open(fileobj=packed, mode="w", format=form, pax_headers=headers) as archive:
        for _ in range(rng.randint(0, 4)):
            member = tarfile.TarInfo(rng.choice(_NAMES))
            content = rng.choice(_CONTENTS)
            member.size = len(content)
            member.type = rng.choice((tarfile.REGTYPE,) * 4 + (tarfile.SYMTYPE, tarfile.FIFOTYPE))
            if form == tarfile.PAX_FORMAT and rng.random() < 0.5:
                member.pax_headers = {rng.choice(_KEYS): rng.choice(_VALUES)}
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


_KEYS = (
    "GNU.sparse.map",
    "GNU.sparse.size",
    "GNU.sparse.major",
    "size",
    "path",
    "mtime",
    "comment",
)
_VALUES = ("0", "1", "-1", "1,2", "x", "9" * 30, "9" * 5_000, "../a.xml", "1e999")


def _flip(content: bytes, rng: Random) -> bytes:
    if not content:
        return content
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _number(content: bytes, rng: Random) -> bytes:
    """A number in the place of another, behind a signature if there is one."""
    signatures = [b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7"]
    starts = [at for each in signatures if (at := content.find(each)) >= 0]
    start = rng.choice(starts) + rng.randrange(4, 50) if starts else rng.randrange(len(content) + 1)
    form = rng.choice(("<H", "<I", ">I", "<Q"))
    size = struct.calcsize(form)
    number = rng.choice(_NUMBERS) & ((1 << (8 * size)) - 1)
    return content[:start] + struct.pack(form, number) + content[start + size :]


def _header(content: bytes, rng: Random) -> bytes:
    """Another field of a tar's header, with the checksum that makes it believed."""
    if len(content) < tarfile.BLOCKSIZE:
        return content
    start = rng.randrange(len(content) // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    block = bytearray(content[start : start + tarfile.BLOCKSIZE])
    field = rng.choice(((124, 12), (136, 12), (100, 8), (156, 1), (257, 8), (345, 155), (482, 13)))
    values = (
        b"\x80" + b"\xff" * 11,
        b"\xff" * 12,
        b"7" * 12,
        b"xgLKSVMDN"[rng.randrange(9) :],
        b"",
    )
    value = rng.choice(values)[: field[1]].ljust(field[1], b"\0")
    block[field[0] : field[0] + field[1]] = value
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return content[:start] + bytes(block) + content[start + tarfile.BLOCKSIZE :]


def _cut(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _repeat(content: bytes, rng: Random) -> bytes:
    start, end = sorted((rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)))
    return content[:end] + content[start:end] * rng.randint(1, 3) + content[end:]


def _drop(content: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.randint(1, 64) :]


def _append(content: bytes, rng: Random) -> bytes:
    return content + rng.choice((rng.randbytes(40), bytes(600), b"PK\5\6", content[-200:]))


_MUTATIONS = (_flip, _flip, _number, _number, _header, _header, _cut, _repeat, _drop, _append)
