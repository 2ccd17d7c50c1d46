"""``twigcast generate``: the same bytes for the same seed, where they were asked for."""

from __future__ import annotations

import re
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.executable import EXECUTABLE
from tests.docs.pages import DOCS
from twigcast.files import read_documents, read_subscriptions
from twigcast.language import Document, Pattern
from twigcast.workload import TransitStub

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

DTD = "<!ELEMENT list (item*)> <!ELEMENT item (#PCDATA)> <!ATTLIST item size CDATA #REQUIRED>"


def test_patterns_go_to_standard_output_and_are_all_expressions(twigcast: Twigcast) -> None:
    result = twigcast("generate", "patterns", "--count", "50", "--predicates", "1")
    xpaths = result.stdout.splitlines()
    assert len(set(xpaths)) == 50
    assert all(Pattern.parse(xpath).exact for xpath in xpaths)
    assert (result.exit_code, result.stderr) == (0, "")


def test_equal_seeds_give_equal_output_and_others_do_not(twigcast: Twigcast) -> None:
    for what in ("patterns", "documents"):
        outputs = [twigcast("generate", what, "--seed", seed).stdout for seed in ("1", "1", "2")]
        assert outputs[0] == outputs[1] != outputs[2]


def test_patterns_in_every_form_are_read_back_the_same(twigcast: Twigcast, tmp_path: Path) -> None:
    plain = twigcast("generate", "patterns", "--count", "9").stdout.splitlines()
    for ending in (".txt", ".csv", ".jsonl"):
        result = twigcast("generate", "patterns", "--count", "9", "--out", f"subs{ending}")
        assert (result.stdout, result.stderr) == ("", f"9 patterns in subs{ending}\n")
        file = read_subscriptions(tmp_path / f"subs{ending}")
        assert [one.xpath for one in file.subscriptions] == plain
    as_json = twigcast("generate", "patterns", "--count", "9", "--json").stdout
    assert as_json == (tmp_path / "subs.jsonl").read_text()


@pytest.mark.parametrize(
    ("option", "sign"),
    [
        (("--wildcard", "1"), "*"),
        (("--descendant", "1"), "//"),
        (("--nested", "1", "--nested-levels", "2", "--nested-depth", "2"), "["),
        (("--predicates", "3", "--predicate-kind", "contains"), "["),
        (("--attributes", "1"), "/@"),
        (("--marker", "test"), "[//test]"),
        (("--skew", "2", "--depth-max", "1"), "/news"),
        (("--no-distinct", "--numbers", "3"), "/"),
    ],
)
def test_parameters_of_patterns_reach_the_generator(
    twigcast: Twigcast, option: tuple[str, ...], sign: str
) -> None:
    few = ("--count", "4", "--no-distinct") if "--skew" in option else ("--count", "40")
    result = twigcast("generate", "patterns", *few, *option)
    assert result.exit_code == 0, result.stderr
    assert sign in result.stdout


def test_one_document_goes_to_standard_output(twigcast: Twigcast) -> None:
    result = twigcast("generate", "documents", "--elements", "60", "--dtd", "bibliography")
    document = Document.parse(result.stdout.encode())
    assert document.element_count == 60
    assert document.tree.getroot().tag == "bibliography"


@pytest.mark.parametrize("value", [2**63, 2**31])
@pytest.mark.parametrize(
    "option",
    [
        "patterns --count",
        "patterns --depth-max",
        "patterns --nested-depth",
        "patterns --nested-levels",
        "patterns --predicates",
        "patterns --numbers",
        "documents --json --count",
        "documents --elements",
        "documents --depth-max",
        "documents --bytes",
        "documents --numbers",
        "documents --marker-position",
        "topology line --brokers",
        "topology binary-tree --levels",
        "topology transit-stub --clients",
        "topology transit-stub --stubs",
    ],
)
def test_numbers_that_nobody_can_mean_are_refused_in_a_sentence(
    twigcast: Twigcast, option: str, value: int
) -> None:
    result = twigcast("generate", *option.split(), str(value))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["predicates", "skew", "wildcard", "vary"])
def test_what_is_no_number_is_refused(twigcast: Twigcast, option: str) -> None:
    result = twigcast("generate", "patterns", f"--{option}", "nan")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    "words",
    [
        "patterns --count 5000 --out subs.csv",
        "documents --elements 5000 --count 9 --out feed.zip",
        "documents --elements 5000 --out feed",
        "topology line --brokers 5000 --out net.json",
    ],
)
def test_a_disk_that_takes_no_more_ends_with_exit_code_1(tmp_path: Path, words: str) -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -f 8; exec "$0" generate {words}', EXECUTABLE],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    (told,) = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert told.startswith(b"twigcast: cannot write ")
    assert told.endswith(b": File too large")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_more_than_one_document_needs_a_place(twigcast: Twigcast) -> None:
    result = twigcast("generate", "documents", "--count", "2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--out FOLDER" in result.stderr


def test_parameters_of_documents_reach_the_generator(twigcast: Twigcast) -> None:
    words = ("generate", "documents", "--bytes", "3000", "--depth-max", "8", "--attributes", "0")
    result = twigcast(*words, "--marker", "test", "--marker-position", "1", "--numbers", "2")
    assert "<test/>" in result.stdout
    assert 2000 < len(result.stdout) < 5000


def test_a_dtd_of_ones_own_is_read_from_its_file(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "mine.dtd").write_text(DTD)
    words = ("--dtd", "mine.dtd", "--root", "item")
    assert twigcast("generate", "documents", *words).stdout.count("<item") == 1
    patterns = twigcast("generate", "patterns", *words, "--count", "3", "--no-distinct").stdout
    assert "list" not in patterns


def test_varied_patterns_and_documents_have_the_same_new_names(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "mine.dtd").write_text(DTD)
    words = ("--dtd", "mine.dtd", "--vary", "1")
    tree = Document.parse(twigcast("generate", "documents", *words).stdout.encode()).tree
    xpath = twigcast("generate", "patterns", *words, "--count", "1", "--wildcard", "0").stdout
    root = str(tree.getroot().tag)
    assert root != "list"
    assert root in xpath


def test_an_unknown_dtd_names_those_that_come_along(twigcast: Twigcast) -> None:
    result = twigcast("generate", "patterns", "--dtd", "nonsense")
    assert result.exit_code == 2
    assert "bibliography" in result.stderr


def test_a_broken_dtd_is_refused_with_its_place(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "broken.dtd").write_text("<!ELEMENT a (b>")
    result = twigcast("generate", "patterns", "--dtd", "broken.dtd")
    assert result.exit_code == 1
    assert result.stderr.startswith("twigcast: schema broken.dtd, line 1")


@pytest.mark.parametrize(
    "words", [("--wildcard", "2"), ("--count", "-1"), ("--predicate-kind", "x")]
)
def test_a_parameter_out_of_its_range_is_a_matter_of_usage(
    twigcast: Twigcast, words: tuple[str, ...]
) -> None:
    result = twigcast("generate", "patterns", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("twigcast: ")


def test_a_pattern_file_that_cannot_be_finished_is_not_there(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "mine.dtd").write_text("<!ELEMENT a EMPTY>")
    words = ("--dtd", "mine.dtd", "--count", "1000", "--out", "subs.txt")
    result = twigcast("generate", "patterns", *words)
    assert result.exit_code == 2
    assert "distinct" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.dtd"]


# Topologies.


def test_the_defaults_that_the_help_and_the_page_tell_are_those_of_the_generator(
    twigcast: Twigcast,
) -> None:
    told = " ".join(twigcast("generate", "topology", "--help").stdout.split())
    page = (DOCS / "topologies.md").read_text(encoding="utf-8")
    for field in fields(TransitStub):
        default = getattr(TransitStub(), field.name)
        if isinstance(default, tuple):
            assert f"| `{field.name}` | {default[0]:g} to {default[1]:g} |" in page
        else:
            option = f"--{field.name.replace('_', '-')} "
            assert re.search(rf"{option}[NX] Only transit-stub: [^()]*\({default:g}\)\.", told)
            assert f"| `{field.name}` | {default:g} |" in page


@pytest.mark.parametrize("kind", ["patterns", "documents"])
@pytest.mark.parametrize("marker", ["a b", "<x"])
def test_a_marker_that_is_no_name_is_refused(twigcast: Twigcast, kind: str, marker: str) -> None:
    result = twigcast("generate", kind, "--count", "1", "--marker", marker)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the marker is the name of an element" in result.stderr


@pytest.mark.parametrize("out", ["feed.zip", "feed"])
@pytest.mark.parametrize(
    "stem", ["caf\udce9", "", "a:b*", "line\nbreak", "-dash", "l" * 250], ids=ascii
)
def test_documents_are_found_again_whatever_their_dtd_is_called(
    twigcast: Twigcast, tmp_path: Path, stem: str, out: str
) -> None:
    (tmp_path / f"{stem}.dtd").write_text(DTD)
    drawn = twigcast(
        "generate", "documents", "--dtd", f"./{stem}.dtd", "--count", "2", "--out", out
    )
    assert (drawn.exit_code, drawn.stderr) == (0, f"2 documents in {out}\n")
    contents = [content for _, content in read_documents(tmp_path / out)]
    assert len(contents) == 2
    assert all(isinstance(content, bytes) for content in contents)
