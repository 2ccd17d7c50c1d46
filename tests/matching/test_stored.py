"""A stored matcher is read as it was written, or refused; never another answer or a raw error."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.engines import EVERY_ENGINE, NATIVE
from twigcast import Matcher as LibraryMatcher
from twigcast.errors import DocumentLimitError, UsageError
from twigcast.files import read_index
from twigcast.language import DocumentLimits
from twigcast.matching import Matcher, stored

DOCUMENTS = (b"<a/>", b"<b/>", b"<a c='1'><b>7</b></a>", b"<c/>")
RULES: dict[str, dict[int | str, str]] = {
    "exact": {1: "//a", 2: "/b", 7: "/a[@c = '1']/b"},
    "residual": {1: "//a", 2: "//b[. = ../@c + 6]"},
    "texts": {"ann": "//a", "bob": "/b"},
    "texts and residual": {"ann": "//a[last()]", 5: "/b"},
    "empty": {},
}
KINDS = pytest.mark.parametrize("kind", RULES)
ALL = pytest.mark.parametrize("engine", EVERY_ENGINE)


def _written(engine: str, kind: str) -> bytes:
    return Matcher(RULES[kind], engine=engine).to_bytes()


def _answers(matcher: Matcher) -> list[list[object]]:
    return [matcher.match(document) for document in DOCUMENTS]


def _harmless(content: bytes, engine: str, kind: str) -> bool:
    """Whether a stored form is refused, or answers as what was stored."""
    try:
        read = Matcher.from_buffer(content, engine=engine)
    except UsageError:
        return True
    return _answers(read) == _answers(Matcher(RULES[kind], engine=engine))


def _flips(content: bytes) -> Iterator[tuple[int, bytes]]:
    for place in range(len(content)):
        for bit in (0x01, 0x04, 0x20, 0x80):
            changed = bytearray(content)
            changed[place] ^= bit
            yield place, bytes(changed)


@ALL
@KINDS
def test_a_stored_form_reads_back(engine: str, kind: str) -> None:
    assert _harmless(_written(engine, kind), engine, kind)
    assert _answers(Matcher.from_buffer(_written(engine, kind), engine=engine))


@ALL
@KINDS
def test_every_byte_of_a_stored_form_counts(engine: str, kind: str) -> None:
    wrong = [
        place
        for place, content in _flips(_written(engine, kind))
        if not _harmless(content, engine, kind)
    ]
    assert wrong == []


@ALL
@KINDS
def test_a_stored_form_that_is_cut_anywhere_is_refused(engine: str, kind: str) -> None:
    content = _written(engine, kind)
    for end in range(len(content)):
        with pytest.raises(UsageError):
            Matcher.from_buffer(content[:end], engine=engine)


@ALL
@KINDS
@pytest.mark.parametrize("more", [b"\0", b" ", b"\n", b"[]", bytes(64)])
def test_a_stored_form_with_more_behind_it_is_refused(engine: str, kind: str, more: bytes) -> None:
    with pytest.raises(UsageError):
        Matcher.from_buffer(_written(engine, kind) + more, engine=engine)


@ALL
@KINDS
def test_a_stored_form_of_another_version_is_refused_by_name(engine: str, kind: str) -> None:
    content = _written(engine, kind)
    first, _, rest = content.partition(b"\n")
    name, _, version = first.rpartition(b" ")
    other = name + b" " + str(int(version) + 1).encode() + b"\n" + rest
    with pytest.raises(UsageError, match="this version"):
        Matcher.from_buffer(other, engine=engine)


@ALL
@pytest.mark.parametrize(
    "other",
    [b"", b"PAR1", b"ARROW1\0\0", b"PK\3\4", b"{}", b"\xff\xfe\0", b"//a\n//b\n", bytes(4096)],
)
def test_another_kind_of_file_is_refused(engine: str, other: bytes) -> None:
    with pytest.raises(UsageError, match="not written by"):
        Matcher.from_buffer(other, engine=engine)


@pytest.mark.parametrize("engine", ["streaming", "lxml"])
def test_the_form_without_a_checksum_is_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="this version"):
        Matcher.from_buffer(b'twigcast subscriptions 1\n[[1,"//a"]]', engine=engine)


def _parts(content: bytes) -> list[bytes]:
    """A stored form, cut where one of its parts begins."""
    names = (b"twigcast ids", b"twigcast compiled", b"twigcast subscriptions", b"twigcast-index")
    starts = sorted(place for name in names if (place := content.find(name)) >= 0)
    return [content[start:end] for start, end in pairwise([*starts, len(content)])]


@ALL
def test_parts_of_different_files_do_not_make_one(engine: str, tmp_path: Path) -> None:
    sets: tuple[dict[int | str, str], ...] = (
        {"ann": "//a[last()]", "bob": "/b", 5: "//c[last()]"},
        {"ann": "/b[last()]", "cat": "//a", 5: "//c[last()]"},
        {"ann": "//a", "bob": "/b", 5: "//c"},
        {"ann": "//a[last()]", "bob": "/b", 6: "//c[last()]"},
    )
    written = [Matcher(rules, engine=engine).to_bytes() for rules in sets]
    whole = [_parts(content) for content in written]
    assert all(b"".join(parts) == content for parts, content in zip(whole, written, strict=True))
    assert {len(parts) for parts in whole} == {3 if engine == "native" else 2}
    made = {b"".join(parts) for parts in product(*zip(*whole, strict=True))} - set(written)
    assert made
    for number, content in enumerate(made):
        with pytest.raises(UsageError, match="belong to other subscriptions"):
            Matcher.from_buffer(content, engine=engine)
        renamed = tmp_path / f"{number}.index"
        renamed.write_bytes(content)
        with pytest.raises(UsageError, match="belong to other subscriptions"):
            read_index(renamed, engine=engine)


@ALL
def test_ids_that_were_cut_off_are_missed(engine: str) -> None:
    content = b"".join(_parts(_written(engine, "texts and residual"))[1:])
    with pytest.raises(UsageError, match="ids are not those of the subscriptions"):
        Matcher.from_buffer(content, engine=engine)


@ALL
def test_ids_are_those_of_the_subscriptions(engine: str) -> None:
    plain = Matcher({1: "//a"}, engine=engine).to_bytes()
    with pytest.raises(UsageError, match="ids are not those of the subscriptions"):
        Matcher.from_buffer(stored.with_ids([(-(1 << 63), "ann")], plain), engine=engine)


@NATIVE
@pytest.mark.parametrize("texts", [b"[]", b'[[3,"//b[last()]"]]', b'[[1,"//a"],[2,"//b[last()]"]]'])
def test_texts_are_those_of_the_residual_subscriptions(texts: bytes) -> None:
    head, index = _parts(_written("native", "residual"))
    name = head[: head.index(b"\n") + 1]
    head = name + len(texts).to_bytes(8, "little") + stored.sums(texts, index) + texts
    with pytest.raises(UsageError, match="without"):
        Matcher.from_buffer(head + bytes(-len(head) % 64) + index, engine="native")


# Copies.


def _pickled(matcher: Matcher) -> Matcher:
    again = pickle.loads(pickle.dumps(matcher))
    assert isinstance(again, Matcher)
    return again


COPIES = pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])


@ALL
@KINDS
@COPIES
def test_a_copy_is_a_matcher_of_its_own(
    copied: Callable[[Matcher], Matcher], engine: str, kind: str
) -> None:
    matcher = Matcher(RULES[kind], engine=engine)
    expected = _answers(matcher)
    twin = copied(matcher)
    assert type(twin) is Matcher
    assert twin.statistics().engine == engine
    assert twin.statistics().documents == 0
    assert _answers(twin) == expected
    twin.add("new", "//*")
    for one in RULES[kind]:
        twin.remove(one)
    assert _answers(twin) == [["new"]] * len(DOCUMENTS)
    assert _answers(matcher) == expected
    assert "new" not in matcher


@ALL
@COPIES
def test_a_copy_keeps_texts_and_limits(copied: Callable[[Matcher], Matcher], engine: str) -> None:
    limits = DocumentLimits(elements_max=3)
    rules = {1: "//a[c][b]", "x": ("//p:a", {"p": "urn:p"})}
    matcher = LibraryMatcher(rules, engine=engine, limits=limits, document_cost_max=7)
    twin = copied(matcher)
    assert type(twin) is LibraryMatcher
    assert twin._document_cost_max == 7
    for one in (matcher, twin):
        assert one._written(1) == ("//a[c][b]", {})
        assert one._written("x") == ("//p:a", {"p": "urn:p"})
        with pytest.raises(DocumentLimitError):
            one.match(b"<a><b/><b/><b/></a>")
    twin.remove(1)
    assert matcher._written(1) == ("//a[c][b]", {})
    assert copied(Matcher(["//a"], engine=engine, keep_texts=False))._texts is None


@COPIES
def test_what_a_file_had_rejected_is_copied_too(
    copied: Callable[[Matcher], Matcher], tmp_path: Path
) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("//a\n//[\n")
    matcher = LibraryMatcher.from_file(path, errors="skip")
    twin = copied(matcher)
    assert isinstance(twin, LibraryMatcher)
    assert [one.line for one in twin.rejected] == [one.line for one in matcher.rejected] == [2]


@COPIES
def test_a_matcher_that_watches_paths_is_not_copied(copied: Callable[[Matcher], Matcher]) -> None:
    matcher = Matcher(["//a"], engine="streaming")
    matcher.watch(1, "/a/b")
    with pytest.raises(UsageError, match="unwatch"):
        copied(matcher)
    matcher.unwatch(1)
    assert len(copied(matcher)) == 1


@ALL
def test_what_an_interrupted_change_leaves_is_not_stored(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher = Matcher({"a": "//a"}, engine=engine)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(matcher._engine), "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            matcher.add("b", "//b")
    again = Matcher.from_buffer(matcher.to_bytes(), engine=engine)
    assert again.match(b"<a><b/></a>") == matcher.match(b"<a><b/></a>") == ["a"]
