"""Stored forms, damaged: refused by an error of ours, or the same answers as before.

Stored forms are the bytes of a matcher by each engine, the file of a compiled matcher, and the
records by which a stream remembers what each batch was matched with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from fuzz.cases import as_bytes, as_text
from fuzz.matchers import ENGINE_NAMES, answer
from fuzz.mutation import mutated, spliced
from fuzz.scratch import scratch_file
from fuzz.target import ACCEPTED, REFUSED, UNDECIDED, Fault, Target
from twigcast.errors import InternalError, TwigcastError
from twigcast.files import SubscriptionFile, read_subscriptions
from twigcast.files.writing.versioned_files import read_index, write_index
from twigcast.matching import Matcher

RULES: Final = (
    *("//a", "/a/b", "//b[@x > 1.5]", "//a[b][c]", "//c[. = 'x']", "not(//d)", "//a//b", "//*[@y]"),
    *("//b[1]", "count(//b) > 1", "//a[contains(., 'x')]", "//{urn:p}a", "//a[b = c]", "//é"),
)  # fmt: skip
DOCUMENTS: Final = (
    b"<a><b x='2'>x</b><c>x</c></a>",
    b"<a><a><b/></a><b/><c/></a>",
    b"<d y='1'/>",
    b"<a xmlns='urn:p'><b/></a>",
    "<é/>".encode(),
)
PIECES: Final = (
    *(b"null", b"{}", b"[]", b'"', b"0", b"-1", b"1", b"2", b"1e9", b"true", b'"before": 0', b"\n"),
    *(b'"files": {"../x": ""}', b'"files": null', b",", b":", b"{", b"}", b"\x00", b"\xff", b"//a"),
)


class Case(msgspec.Struct):
    """Bytes in the place of a stored form: which form, of how many ids, of which engine."""

    form: str
    engine: str
    content: str


@cache
def _matcher(engine: str) -> Matcher:
    matcher = Matcher(engine=engine)
    for number, text in enumerate(RULES):
        matcher.add(f"rule {number}" if number % 3 == 0 else number, text)
    return matcher


@cache
def _plain_matcher(engine: str) -> Matcher:
    return Matcher(dict(enumerate(RULES)), engine=engine)


@cache
def _forms() -> tuple[str, ...]:
    """Those that can be read here: a stream's records need pyspark."""
    streams = ("record", "paths") if find_spec("pyspark") else ()
    return ("bytes", "bytes", "plain bytes", "index", *streams)


@cache
def _stored(form: str, engine: str) -> bytes:
    match form:
        case "bytes":
            return _matcher(engine).to_bytes()
        case "plain bytes":
            return _plain_matcher(engine).to_bytes()
        case "index":
            with TemporaryDirectory() as folder:
                return write_index(folder, _matcher(engine)).path.read_bytes()
        case "paths":
            return _written_paths()[1]
        case _:
            return _written_records()[1]


def generate(rng: Random) -> Case:
    """A stored form, damaged, cut off or joined with another."""
    form, engine = rng.choice(_forms()), rng.choice(ENGINE_NAMES)
    content = _stored(form, engine)
    draw = rng.randrange(10)
    if draw == 0:
        content = content[: rng.randrange(len(content))]
    elif draw == 1:
        content = spliced(rng, content, _stored(form, rng.choice(ENGINE_NAMES)))
    elif draw == 2:
        content += rng.randbytes(rng.randint(1, 80))
    else:
        content = mutated(rng, content, PIECES)
    return Case(form, engine, as_text(content))


def check(case: Case) -> str:
    """Read it, and ask what was read; a form that cannot be read here decides nothing."""
    if case.form not in _forms():
        return UNDECIDED
    content = as_bytes(case.content)
    readers: dict[str, Callable[[bytes, str], None]] = {
        "bytes": _check_bytes,
        "plain bytes": _check_plain_bytes,
        "index": _check_index,
        "record": _check_record,
        "paths": _check_paths,
    }
    try:
        readers[case.form](content, case.engine)
    except InternalError:
        raise
    except TwigcastError:
        return REFUSED
    return ACCEPTED


def _check_bytes(content: bytes, engine: str) -> None:
    _compare(Matcher.from_buffer(content, engine=engine), _matcher(engine))


def _check_plain_bytes(content: bytes, engine: str) -> None:
    _compare(Matcher.from_buffer(content, engine=engine), _plain_matcher(engine))


def _check_index(content: bytes, engine: str) -> None:
    path = scratch_file("matcher-0123456789abcdef.index", content)
    _compare(read_index(path, engine=engine), _matcher(engine))


def _compare(read: Matcher, original: Matcher) -> None:
    if len(read) != len(original):
        raise Fault("other answers", f"{len(read)} subscriptions, not {len(original)}")
    for document in DOCUMENTS:
        given, due = answer(read, document), answer(original, document)
        if given != due:
            raise Fault("other answers", f"{given}, not {due}: {document!r}")


@cache
def _first() -> SubscriptionFile:
    return read_subscriptions(scratch_file("first.txt", b"//a\n//b\n"))


@cache
def _written_records() -> tuple[bytes, bytes]:
    """The records of two batches, as a stream writes them."""
    from twigcast.spark.storage.batches import local_store
    from twigcast.spark.stream.versions import Versions

    with TemporaryDirectory() as folder:
        versions = Versions(local_store(folder), _first(), None)
        for batch in range(2):
            versions.settle(versions.choose(batch), f"matcher {batch}")
        one, other = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return one.read_bytes(), other.read_bytes()


def _check_record(content: bytes, _engine: str) -> None:
    """The batch behind those on record remembers the same of them."""
    if _before(content) != _before(_written_records()[1]):
        raise Fault("other record", repr(content))


def _before(last: bytes) -> object:
    from twigcast.spark.storage.batches import local_store
    from twigcast.spark.stream.versions import Versions

    with TemporaryDirectory() as folder:
        records = Path(folder) / "_versions"
        records.mkdir()
        for number, record in enumerate((_written_records()[0], last)):
            (records / f"batch={number}.json").write_bytes(record)
        return Versions(local_store(folder), _first(), None).choose(2).before


@cache
def _written_paths() -> tuple[str, bytes]:
    """Where a stream writes which files a batch has, and what."""
    from twigcast.spark.storage.batches import local_store
    from twigcast.spark.stream.versions import kept_paths

    with TemporaryDirectory() as folder:
        kept_paths(local_store(folder), 0, ["file:///a.xml", "file:///b.xml"])
        (written,) = (path for path in Path(folder).rglob("*") if path.is_file())
        return str(written.relative_to(folder)), written.read_bytes()


def _check_paths(content: bytes, _engine: str) -> None:
    from twigcast.spark.storage.batches import local_store
    from twigcast.spark.stream.versions import kept_paths

    with TemporaryDirectory() as folder:
        place = Path(folder) / _written_paths()[0]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        paths = kept_paths(local_store(folder), 0, [])
        if paths != ["file:///a.xml", "file:///b.xml"]:
            raise Fault("other paths", repr(paths))


TARGET: Final = Target(
    name="stored",
    summary="damaged stored matchers, index files and records of a stream",
    kind=Case,
    generate=generate,
    check=check,
)
