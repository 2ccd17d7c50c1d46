"""``twigcast doctor``: whether what is here works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.engines import NATIVE
from twigcast.cli.verbs import doctor
from twigcast.errors import UsageError
from twigcast.matching.engines import native

if TYPE_CHECKING:
    from tests.cli.conftest import Twigcast


class Disk(NamedTuple):
    """What the system says about a disk, as far as it is looked at."""

    free: int


@pytest.fixture
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_java() -> None:
        raise UsageError("Spark needs Java 17 or newer and none was found: install one")

    monkeypatch.setattr("twigcast.spark.session.java.find_java", find_java)


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _name: None)


@pytest.fixture
def without_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "AVAILABLE", False)
    monkeypatch.setattr("twigcast.matching.matcher.AVAILABLE", False)


def results(twigcast: Twigcast, *words: str) -> dict[str, str]:
    lines = twigcast("doctor", *words, "--json").stdout.splitlines()
    return {told["check"]: told["result"] for told in map(json.loads, lines)}


def test_a_sound_set_up_passes_and_the_slow_check_is_left_out(twigcast: Twigcast) -> None:
    result = twigcast("doctor")
    assert result.exit_code == 0, result.stdout
    assert "FAILED" not in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last.startswith("skipped   Spark")
    assert "--spark" in last


@NATIVE
def test_the_kernel_is_tried(twigcast: Twigcast) -> None:
    assert results(twigcast)["kernel"] == "ok"
    assert f"version {native.version()}\n" in twigcast("doctor").stdout


@pytest.mark.usefixtures("without_kernel")
def test_the_kernel_is_optional(twigcast: Twigcast) -> None:
    found = results(twigcast)
    assert (found["kernel"], found["a match"]) == ("skipped", "ok")
    result = twigcast("doctor")
    assert "skipped   kernel          not installed: engine streaming, 30 to 300" in result.stdout
    assert "pip install ./kernel" in result.stdout
    assert result.exit_code == 0


@NATIVE
def test_a_kernel_that_matches_wrongly_fails(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twigcast.matching.Matcher.match", lambda *_: [1, 2])
    found = results(twigcast)
    assert (found["kernel"], found["a match"]) == ("FAILED", "ok")


@pytest.mark.usefixtures("without_java")
def test_a_missing_java_fails_where_spark_is_installed(twigcast: Twigcast) -> None:
    result = twigcast("doctor")
    assert result.exit_code == 1
    assert "FAILED    Java            Spark needs Java 17" in result.stdout


@pytest.mark.usefixtures("without_spark")
def test_spark_is_optional_until_it_is_asked_for(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = results(twigcast)
    assert (found["packages"], found["Java"]) == ("skipped", "skipped")
    assert twigcast("doctor").exit_code == 0
    monkeypatch.setattr(doctor, "_spark", lambda: "starts")
    assert results(twigcast, "--spark")["packages"] == "FAILED"
    assert twigcast("doctor", "--spark").exit_code == 1


def test_a_full_disk_fails(twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: Disk(free=doctor.FREE_BYTES_MIN - 1))
    assert results(twigcast)["disk space"] == "FAILED"


def test_an_old_python_fails(twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PYTHON_MIN", (99, 0))
    assert results(twigcast)["Python"] == "FAILED"


def test_a_wrong_match_fails(twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twigcast.matching.Matcher.match", lambda *_: [1, 2, 3])
    assert results(twigcast)["a match"] == "FAILED"


def test_a_spark_that_does_not_start_fails(
    twigcast: Twigcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_session(**_settings: object) -> None:
        raise UsageError("Spark did not start: no memory")

    monkeypatch.setattr("twigcast.spark.start_session", start_session)
    result = twigcast("doctor", "--spark")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].startswith(
        "FAILED    Spark           Spark did not start"
    )
