"""What is shown while pip works, and what is told when it fails."""

from __future__ import annotations

import io

import pytest

from tools.pip_progress import Display, PipProgress


def fed(*lines: str, terminal: bool = False) -> tuple[PipProgress, str]:
    screen = io.StringIO()
    progress = PipProgress(Display(screen, terminal=terminal))
    for line in lines:
        progress.feed(line)
    return progress, screen.getvalue()


def arriving(size: int, step: int) -> list[str]:
    return [f"Progress {arrived} of {size}" for arrived in range(0, size + 1, step)]


def test_a_large_download_is_shown_every_fifty_megabytes() -> None:
    _, shown = fed("Collecting pyspark", "  Downloading pyspark-4.3.0.tar.gz (456 MB)",
                   *arriving(456_000_000, 1_000_000))  # fmt: skip
    lines = shown.splitlines()
    assert lines[0] == "  pyspark-4.3.0.tar.gz: 50 of 456 MB"
    assert len(lines) == 9


def test_a_small_download_is_not_worth_a_line() -> None:
    _, shown = fed("  Downloading six-1.17.0.whl (11 kB)", *arriving(11_000, 1_000))
    assert shown == ""


def test_a_terminal_has_one_line_that_changes() -> None:
    _, shown = fed("  Downloading a.whl (20 MB)", *arriving(20_000_000, 1_000_000), terminal=True)
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[2K  a.whl: 20 of 20 MB")


def test_builds_and_the_installation_are_told() -> None:
    _, shown = fed(
        "  Building wheel for pyspark (pyproject.toml): started",
        "Installing collected packages: py4j, pyspark",
    )
    assert shown == "  building pyspark\n  installing 2 packages\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "the disk is full"),
        ("WARNING: Retrying … NewConnectionError(…)", "the package index cannot be reached"),
        ("ERROR: No matching distribution found for x==1", "there is no x==1 for this Python"),
        ("      error: invalid command 'bdist_wheel'", "error: invalid command 'bdist_wheel'"),
        ("something else", "see above"),
    ],
)
def test_a_failure_has_its_reason_in_a_line(line: str, reason: str) -> None:
    progress, _ = fed("Collecting x", line)
    assert progress.failure.startswith(reason)


def test_without_a_connection_no_package_is_called_missing() -> None:
    progress, _ = fed("NameResolutionError", "ERROR: No matching distribution found for x")
    assert progress.package_missing is None


def test_the_last_lines_end_with_the_reason() -> None:
    progress, _ = fed(
        "      error: invalid command 'bdist_wheel'",
        "      [end of output]",
        "  note: This error originates from a subprocess, and is likely not a problem with pip.",
        "error: metadata-generation-failed",
        "",
        "× Encountered error while generating package metadata.",
        "╰─> See above for output.",
        "note: This is an issue with the package mentioned above, not pip.",
        "hint: See above for details.",
    )
    assert progress.last_lines() == ["error: invalid command 'bdist_wheel'"]
    assert progress.failure == "error: invalid command 'bdist_wheel'"
