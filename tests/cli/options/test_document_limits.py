"""Limits of documents as options: what stops a document names the option that lets it pass."""

from __future__ import annotations

import zipfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engines import EVERY_ENGINE
from twigcast.cli.options import document_limits
from twigcast.cli.options.document_limits import size_of
from twigcast.errors import UsageError
from twigcast.files import PublicationLimits
from twigcast.language import DocumentLimits
from twigcast.matching.engines.native import AVAILABLE

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast

DOCUMENT = (
    "<!DOCTYPE a [<!---->]><shop><item><price currency='EUR' x='1'>12</price></item><item/></shop>"
)
STOPPED = {
    "--document-bytes-max": ("20", "bytes_max"),
    "--document-elements-max": ("2", "elements_max"),
    "--document-depth-max": ("2", "depth_max"),
    "--document-attributes-max": ("1", "attributes_max"),
    "--document-name-length-max": ("6", "name_length_max"),
    "--document-internal-subset-bytes-max": ("6", "internal_subset_bytes_max"),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rules.txt").write_text("//price\n")
    (tmp_path / "a.xml").write_text(DOCUMENT)
    return tmp_path


def test_every_limit_of_documents_and_archives_has_an_option() -> None:
    names = {each.name for each in (*fields(DocumentLimits), *fields(PublicationLimits))}
    assert document_limits._OPTIONS.keys() == names - {"document_bytes_max"}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    "option",
    ["--archive-members-max", "--archive-ratio-max", "--residual-cost-max", "--document-cost-max"],
)
def test_no_option_takes_a_number_of_more_than_64_bits(twigcast: Twigcast, option: str) -> None:
    verbs = [("match", "rules.txt", "a.xml"), ("explain", "//a", "a.xml")]
    for words in verbs[: 1 if option == "--document-cost-max" else 2]:
        result = twigcast(*words, option, str(2**63))
        assert result.exit_code == 2
        assert f"{option} is 9,223,372,036,854,775,807 at most" in result.stderr


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("option", STOPPED)
@pytest.mark.parametrize(
    "words",
    [
        ("match", "rules.txt", "a.xml"),
        ("explain", "//price", "a.xml"),
        ("advertise", "--from-documents", "a.xml"),
    ],
    ids=lambda words: words[0],
)
def test_a_document_that_is_stopped_names_the_option(
    twigcast: Twigcast, words: tuple[str, ...], option: str
) -> None:
    given, limit = STOPPED[option]
    result = twigcast(*words, option, given)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"({limit}); {option} raises it\n" in result.stderr
    raised = twigcast(*words, option, "100")
    assert (raised.exit_code, bool(raised.stdout)) == (0, True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_document_over_the_usual_limit_passes_when_it_is_raised(
    twigcast: Twigcast, place: Path, jobs: str
) -> None:
    (place / "large.xml").write_text(f"<shop>{'<item>lamp</item>' * 600_000}<price/></shop>")
    words = ("match", "rules.txt", "large.xml", "--jobs", jobs)
    usual = twigcast(*words)
    assert "--document-bytes-max raises it" in usual.stderr
    assert twigcast(*words, "--document-bytes-max", "20MB").stdout == "large.xml\t1\n"


def test_limits_of_archives_can_be_raised(twigcast: Twigcast, place: Path) -> None:
    with zipfile.ZipFile(place / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xml", f"<price>{' ' * 5_000_000}</price>")
        archive.writestr("b.xml", DOCUMENT)
    packed = twigcast("match", "rules.txt", "a.zip")
    assert "(ratio_max); --archive-ratio-max raises it" in packed.stderr
    assert twigcast("match", "rules.txt", "a.zip", "--archive-ratio-max", "10000").exit_code == 0
    few = twigcast("match", "rules.txt", "a.zip", "--archive-members-max", "1")
    assert "(members_max); --archive-members-max raises it" in few.stderr


def test_where_libxml2_stops_no_option_is_named(twigcast: Twigcast, place: Path) -> None:
    (place / "deep.xml").write_text("<a>" * 300 + "</a>" * 300)
    result = twigcast("match", "rules.txt", "deep.xml")
    assert "(depth_max); libxml2 reads no more\n" in result.stderr
    for option in ("--document-depth-max=257", "--document-elements-max=10000001"):
        beyond = twigcast("match", "rules.txt", "a.xml", option)
        assert beyond.exit_code == 2
        assert option.partition("=")[0] in beyond.stderr


@pytest.mark.parametrize(
    "option",
    ["--document-bytes-max", "--document-attributes-max", "--document-name-length-max"],
)
@pytest.mark.parametrize("number", [str(2**63), "9" * 400])
def test_a_limit_that_no_machine_can_count_to_is_refused(
    twigcast: Twigcast, place: Path, option: str, number: str
) -> None:
    (place / "a.xml").write_text("<a/>")
    result = twigcast("match", "rules.txt", "a.xml", option, number)
    assert result.exit_code == 2
    assert f"{option} is 9,223,372,036,854,775,807 at most" in result.stderr


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("5000", 5000),
        ("20MB", 20_000_000),
        ("20 mib", 20 << 20),
        ("1.5kB", 1500),
        ("2GiB", 2 << 30),
    ],
)
def test_sizes_are_read_as_people_write_them(given: str, size: int) -> None:
    assert size_of(given, option="--x") == size


@pytest.mark.parametrize("given", ["", "MB", "-1", "0", "20 apples", "1e6", "20MBB"])
def test_what_is_no_size_is_refused_with_an_example(given: str) -> None:
    with pytest.raises(UsageError, match=r"--x takes a size, such as 20MB"):
        size_of(given, option="--x")


def test_what_is_too_costly_says_what_to_do_and_can_be_raised(
    twigcast: Twigcast, place: Path
) -> None:
    (place / "rules.txt").write_text("//b[count(preceding::b/namespace::*) = 7]\n//c\n")
    (place / "large.xml").write_text(f"<a>{'<b/>' * 1_000}</a>")
    low, high = ("--residual-cost-max=1000", "--residual-cost-max=2000000000")
    result = twigcast("match", "rules.txt", "large.xml", low)
    assert result.exit_code == 1
    assert "or raise --residual-cost-max: 1\n" in result.stderr
    assert twigcast("match", "rules.txt", "large.xml", high).stdout == "large.xml\t1\n"
    words = ("explain", "--rule", "1", "rules.txt", "large.xml")
    undecided = twigcast(*words, low)
    assert (undecided.exit_code, undecided.stdout.split(":")[0]) == (1, "undecided")
    assert "or raise --residual-cost-max\n" in undecided.stderr
    assert twigcast(*words, high).stdout.startswith("match: ")


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_work_of_all_together_is_bounded_in_every_worker_and_can_be_raised(
    twigcast: Twigcast, place: Path, engine: str, jobs: str
) -> None:
    dear = [f"//b[count(preceding-sibling::b) = {20 * number}]" for number in range(20)]
    (place / "rules.txt").write_text("\n".join(["/a/b", *dear]))
    (place / "large.xml").write_text(f"<a>{'<b/>' * 400}</a>")
    words = ("match", "rules.txt", "large.xml", f"--engine={engine}", f"--jobs={jobs}")
    # Steps of the kernel, or, where it is not installed, visits of libxml2.
    low = twigcast(*words, f"--document-cost-max={20_000 if AVAILABLE else 1_000_000}")
    assert low.exit_code == 1
    assert "raise --document-cost-max" in low.stderr
    found = low.stdout.split()[1:]
    assert found[0] == "1"
    assert 1 < len(found) < 21
    high = twigcast(*words, "--document-cost-max=100000000")
    assert (high.exit_code, len(high.stdout.split())) == (0, 1 + 21)


def test_one_expression_alone_may_cost_what_it_is_given(twigcast: Twigcast, place: Path) -> None:
    (place / "large.xml").write_text(f"<a>{'<b/>' * 3_000}</a>")
    # The kernel knows no single namespace. For libxml2 it is estimated at all that stands before,
    # of which that looks at one node.
    words = ("explain", "//b[preceding::b/namespace::xml]", "large.xml")
    assert twigcast(*words).stdout.startswith("undecided")
    answer = twigcast(*words, "--residual-cost-max=20000000000")
    assert answer.stdout.startswith("match: ")
