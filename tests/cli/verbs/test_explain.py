"""``twigcast explain``: the story on stdout, one document at a time."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

pytestmark = pytest.mark.usefixtures("shop")


def test_a_match_says_where(twigcast: Twigcast) -> None:
    result = twigcast("explain", "//price[. > 10]", "good.xml")
    assert result.exit_code == 0
    assert result.stdout.startswith("match: //price[. > 10]\n")


def test_a_miss_says_what_failed_and_is_no_failure_of_the_verb(twigcast: Twigcast) -> None:
    result = twigcast("explain", "//price[. > 10]", "cheap.xml")
    assert result.exit_code == 0
    assert result.stdout.startswith("no match: ")
    assert "'3'" in result.stdout


def test_json_has_the_parts(twigcast: Twigcast) -> None:
    (line,) = twigcast("explain", "//offer", "good.xml", "--json").stdout.splitlines()
    told = json.loads(line)
    assert told["document"] == "good.xml"
    assert told["matches"] is False
    assert told["failed"] == "offer"


def test_prefixes_are_bound_by_the_option(twigcast: Twigcast, tmp_path: Path) -> None:
    (tmp_path / "n.xml").write_text('<item xmlns="urn:s"><price xmlns="urn:p"/></item>')
    words = ("explain", "//s:item/p:price", "n.xml")
    result = twigcast(*words, "--namespace", "s=urn:s", "--namespace", "p=urn:p")
    assert result.stdout.startswith("match: ")
    missing = twigcast("explain", "//item", "n.xml")
    assert "urn:s" in missing.stdout


def test_a_binding_without_its_halves_is_a_matter_of_usage(twigcast: Twigcast) -> None:
    result = twigcast("explain", "//a", "good.xml", "--namespace", "s")
    assert result.exit_code == 2
    assert "PREFIX=URI" in result.stderr


def test_a_bad_expression_is_refused_with_a_caret(twigcast: Twigcast) -> None:
    result = twigcast("explain", "/stock//[1]", "good.xml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[1:] == ["  /stock//[1]", "          ^"]


def test_a_broken_or_missing_document_is_refused(twigcast: Twigcast) -> None:
    for name in ("broken.xml", "nowhere.xml"):
        result = twigcast("explain", "//a", name)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"twigcast: document {name}")


def test_standard_input_can_be_explained(twigcast: Twigcast) -> None:
    assert twigcast("explain", "//b", "-", stdin=b"<a><b/></a>").stdout.startswith("match: ")


def test_a_member_of_an_archive_is_named_as_match_names_it(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
        archive.writestr("x.xml", "<x/>")
        archive.writestr("deep/y.txt", "<y/>")
    with tarfile.open(tmp_path / "feed.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "good.xml", "good.xml")
        tar.add(tmp_path / "cheap.xml", "cheap.xml")
    assert twigcast("explain", "/y", "feed.zip!deep/y.txt").stdout.startswith("match: ")
    assert twigcast("explain", "//price[. = 3]", "feed.tar.gz!cheap.xml").stdout.startswith(
        "match:"
    )
    missing = twigcast("explain", "/y", "feed.zip!z.xml")
    assert missing.exit_code == 1
    assert "no such member" in missing.stderr


def test_several_documents_or_none_are_a_matter_of_usage(
    twigcast: Twigcast, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    several, none = twigcast("explain", "//a", "."), twigcast("explain", "//a", "empty")
    assert several.exit_code == none.exit_code == 2
    assert "name one, as ./broken.xml" in several.stderr
    assert "no document in empty" in none.stderr


def test_a_rule_of_a_file_is_explained_with_its_own_prefixes(twigcast: Twigcast) -> None:
    result = twigcast("explain", "--rule", "ns", "subs.csv", "good.xml")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "no match: //s:item")
    line = twigcast("explain", "--rule", "3", "subs.txt", "good.xml", "--json")
    assert json.loads(line.stdout)["rule"] == "3"
    assert json.loads(line.stdout)["xpath"] == "//item"


@pytest.mark.parametrize(
    ("file", "rule", "told"),
    [
        ("subs.csv", "99", "subs.csv has no rule 99; there are b, a, ns"),
        ("subs.csv", "nss", "subs.csv has no rule nss; did you mean ns?"),
        ("subs.txt", "2", "subs.txt has no rule 2; there are 1, 3, 4, 5"),
        ("subs.jsonl", "7", "subs.jsonl has the id 7 as a number and as text"),
    ],
)
def test_a_rule_that_is_not_there_is_a_matter_of_usage(
    twigcast: Twigcast, file: str, rule: str, told: str
) -> None:
    result = twigcast("explain", "--rule", rule, file, "good.xml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"twigcast: {told}")


def test_a_rule_that_is_no_expression_is_refused_at_its_column(twigcast: Twigcast) -> None:
    result = twigcast("explain", "--rule", "4", "subs.txt", "good.xml")
    assert result.exit_code == 1
    assert "column 5" in result.stderr


def test_no_is_an_exit_code_where_it_is_asked_for(twigcast: Twigcast) -> None:
    assert twigcast("explain", "//nothing", "good.xml").exit_code == 0
    assert twigcast("explain", "//nothing", "good.xml", "--exit-code").exit_code == 1
    assert twigcast("explain", "//item", "good.xml", "--exit-code").exit_code == 0


@pytest.mark.parametrize("folder", [".", "we!ird", "a!b/c!d"])
@pytest.mark.parametrize("archive", ["feed.zip", "fe!ed.zip"])
def test_a_member_is_found_wherever_exclamation_marks_stand(
    twigcast: Twigcast, tmp_path: Path, folder: str, archive: str
) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(tmp_path / folder / archive, "w") as packed:
        packed.writestr("x!y.xml", "<y/>")
    name = f"{folder}/{archive}!x!y.xml"
    (tmp_path / "rules.txt").write_text("/y\n")
    assert twigcast("match", "rules.txt", f"{folder}/{archive}").stdout == f"{name}\t1\n"
    assert twigcast("explain", "/y", name).stdout.startswith("match: ")


def test_a_name_of_exclamation_marks_alone_is_refused(twigcast: Twigcast) -> None:
    result = twigcast("explain", "/y", "!" * 100_000)
    assert (result.exit_code, result.stdout) == (1, "")
