"""``twigcast about``: what is here, and how to get what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.engines import NATIVE
from twigcast import __version__
from twigcast.cli.verbs import about
from twigcast.errors import UsageError
from twigcast.matching import Matcher
from twigcast.matching.engines import native

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


@pytest.fixture
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_java() -> None:
        raise UsageError("Spark needs Java 17 or newer and none was found: install one")

    monkeypatch.setattr("twigcast.spark.session.java.find_java", find_java)


@pytest.fixture
def without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "AVAILABLE", False)
    monkeypatch.setattr("twigcast.matching.matcher.AVAILABLE", False)


def test_about_tells_versions_and_the_engine(twigcast: Twigcast) -> None:
    result = twigcast("about")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert __version__ in lines["twigcast"]
    assert f"engine {Matcher().statistics().engine}" in lines["twigcast"]
    assert {"Python", "lxml", "libxml2", "kernel", "pyarrow", "pyspark", "Java"} <= set(lines)


@NATIVE
def test_about_tells_the_version_of_the_kernel(twigcast: Twigcast) -> None:
    lines = {line.split()[0]: line for line in twigcast("about").stdout.splitlines()}
    assert lines["kernel"].split()[1] == native.version()
    assert lines["twigcast"].endswith("engine native")


@pytest.mark.usefixtures("without_kernel")
def test_about_tells_how_to_get_the_kernel(twigcast: Twigcast) -> None:
    lines = {line.split()[0]: line for line in twigcast("about").stdout.splitlines()}
    assert lines["kernel"].split()[1] == "missing"
    assert "engine streaming, 30 to 300 times slower" in lines["kernel"]
    assert "pip install ./kernel" in lines["kernel"]
    assert lines["twigcast"].endswith("engine streaming")


@pytest.mark.usefixtures("without_java")
def test_about_tells_what_is_missing_and_how_to_get_it(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = about.Component("pyspark", None, "needed for run: pip install '.[spark]'")
    monkeypatch.setattr(about, "_package", lambda *_names, extra: absent)  # noqa: ARG005
    result = twigcast("about", "--json")
    parts = {part["name"]: part for part in map(json.loads, result.stdout.splitlines())}
    assert parts["Java"]["version"] is None
    assert "install" in parts["Java"]["note"]
    assert parts["pyspark"]["version"] is None
    assert "pyspark     missing     needed for run" in twigcast("about").stdout
    assert result.exit_code == 0


def test_a_package_that_is_not_installed_is_missing() -> None:
    part = about._package("no-such-package-at-all", "nothing", extra="spark")
    assert part.version is None
    assert "pip install '.[spark]' in a checkout" in part.note
