"""The rules of this project's craft that a machine can check.

A rule is a function from one file to its offences. Each rule stands in :data:`RULES` together
with a planted offence that it must catch and a decent neighbour that it must let pass, so no
rule can fall asleep. ``test_the_project_is_tidy`` then takes every rule through every file.

Words that a rule looks for are spelt here with brackets or in two halves, so that this file
does not offend by naming them.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
CORE = {"language", "covering", "matching", "workload", "routing"}
VAGUE = {"manager", "helper", "helpers", "util", "utils", "common", "misc", "data", "info"}
LOCKS = re.compile(r"(?:.*[.]lock|package-lock[.]json|Pipfile[.]lock|pylock.*[.]toml)")
OPEN_ENDS = re.compile(r"\b(?:T[O]DO|F[I]XME|X[X]X|for[ ]now)\b|NotImplemented[E]rror|skip[(][)]")
QUESTION = re.compile(r"(?:What|How|Which|Where|When|Why|Who|Whose|Whom)\b")
REGISTRY = re.compile(
    r"pypi[.]org|pythonhosted[.]org|index\.crates[.]io|--(?:extra-)?index[-]url|registry[.]npmjs"
)
HOME = re.compile(r"(?<![\w.])/(?:home|Users)/\w+")
RANDOM_VALUES = {"Random"}
CLOCKS = {"now", "utcnow", "today", "perf_counter", "monotonic", "process_time", "time_ns"}
CHANCE = {"urandom", "uuid1", "uuid4", "SystemRandom", "token_bytes", "token_hex", "randbelow"}

type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Source:
    """A file of the project: where it stands and what it says."""

    path: PurePosixPath
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def is_python(self) -> bool:
        return self.path.suffix == ".py"

    @property
    def is_test(self) -> bool:
        return self.path.parts[0] == "tests"

    @property
    def room(self) -> str | None:
        """The room below src/twigcast, if the file is in one."""
        parts = self.path.parts
        return parts[2] if parts[:2] == ("src", "twigcast") and len(parts) > 3 else None


Rule = Callable[[Source], Iterator[str]]


def file_is_short(source: Source) -> Iterator[str]:
    lines = source.text.count("\n")
    if source.path.suffix in {".py", ".rs"} and lines > FILE_LINES_MAX:
        yield f"{lines} lines; split it, {FILE_LINES_MAX} are too many to hold in mind"


def functions_are_short(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, type_of_function):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"line {node.lineno}: {node.name} has {lines} lines"


def names_are_telling(source: Source) -> Iterator[str]:
    vague_here = VAGUE - {"data"} if source.is_test else VAGUE  # Hypothesis hands tests a `data`
    for line, name in [(1, source.path.stem), *_names_given(source.tree)]:
        if vague := vague_here.intersection(_words(name)):
            yield f"line {line}: {name} says only {', '.join(sorted(vague))!r}"


def module_explains_itself(source: Source) -> Iterator[str]:
    explained = ast.get_docstring(source.tree)
    if source.text.strip() and not explained:
        yield "no module docstring: explain the idea before the code"
    if source.room and explained and QUESTION.match(explained):
        yield "the module docstring begins with a question: say what the module is"


def room_names_its_face(source: Source) -> Iterator[str]:
    if source.room and source.path.name == "__init__.py" and len(source.path.parts) == 4:
        named = {name for _, name in _names_given(source.tree)}
        if "__all__" not in named:
            yield "a room's __init__ names what is public in __all__"


def tests_do_not_sleep(source: Source) -> Iterator[str]:
    if source.is_test:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and _called(node) == "sleep":
                yield f"line {node.lineno}: await a condition, do not wait for the clock"


def tests_can_fail(source: Source) -> Iterator[str]:
    if source.is_test and source.path.name.startswith("test_"):
        tests = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, type_of_function) and node.name.startswith("test_")
        ]
        if not tests:
            yield "a file of tests without a test"
        for test in tests:
            if not any(_can_fail(node) for node in ast.walk(test)):
                yield f"line {test.lineno}: {test.name} asserts nothing"


def core_takes_time_and_chance_as_arguments(source: Source) -> Iterator[str]:
    if source.room not in CORE:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            for alias in node.names:
                if alias.name not in RANDOM_VALUES:
                    yield f"line {node.lineno}: {alias.name} of random draws from hidden state"
        elif isinstance(node, ast.Attribute):
            of_random = isinstance(node.value, ast.Name) and node.value.id == "random"
            if (of_random and node.attr not in RANDOM_VALUES) or node.attr in CLOCKS | CHANCE:
                yield f"line {node.lineno}: {ast.unparse(node)} is a clock or a die; pass it in"


def core_opens_nothing(source: Source) -> Iterator[str]:
    if source.room in CORE:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and _called(node) in {"open", "read_bytes", "read_text"}:
                yield f"line {node.lineno}: files are opened in the room `files`"


def only_faces_print(source: Source) -> Iterator[str]:
    if source.path.parts[0] == "src" and source.room != "cli":
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and _called(node) == "print":
                yield f"line {node.lineno}: only the command line prints"


def nothing_is_left_open(source: Source) -> Iterator[str]:
    if source.path.parts[0] in {"src", "tests", "benchmarks", "fuzz", "kernel"}:
        yield from _lines_with(OPEN_ENDS, source)


def no_registry_is_named(source: Source) -> Iterator[str]:
    yield from _lines_with(REGISTRY, source)


def no_home_is_named(source: Source) -> Iterator[str]:
    yield from _lines_with(HOME, source)


def no_lock_file(source: Source) -> Iterator[str]:
    if LOCKS.fullmatch(source.path.name):
        yield "lock files record download addresses; versions are pinned in constraints.txt"


def _names_given(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each name that the file itself gives: definitions, arguments, assigned variables."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case _:
                pass


def _words(name: str) -> list[str]:
    """A name taken apart: ``PatternIndex_of`` gives pattern, index, of."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def _called(node: ast.Call) -> str | None:
    """The last name of what is called: ``sleep`` for ``clock.sleep(1)``."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return None


def _can_fail(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = _called(node) or ""
        return called in {"raises", "fail", "warns"} or called.startswith(("assert", "check"))
    return isinstance(node, ast.Assert)


def _lines_with(offence: re.Pattern[str], source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), start=1):
        if found := offence.search(line):
            yield f"line {number}: {found.group()!r}"


@dataclass(frozen=True)
class Planted:
    """One rule, with a file that it must refuse and one that it must let pass."""

    rule: Rule
    path: str
    bad: str
    good: str
    good_path: str | None = None


_LONG = "def f():\n" + "    x = 1\n" * FUNCTION_LINES_MAX

RULES = (
    Planted(file_is_short, "src/twigcast/a.py", "\n" * 601, "\n" * 600),
    Planted(functions_are_short, "src/twigcast/a.py", _LONG, _LONG.replace("    x = 1\n", "", 1)),
    Planted(
        names_are_telling, "src/twigcast/a.py", "class LinkManager: ...", "class Manageress: ..."
    ),
    Planted(names_are_telling, "tests/a.py", "def f(node_info): ...", "def f(informer): ..."),
    Planted(names_are_telling, "src/twigcast/a.py", "data = 1", "data = 1", "tests/a.py"),
    Planted(names_are_telling, "src/twigcast/a.py", "misc = 1", "from x import misc"),
    Planted(names_are_telling, "src/twigcast/utils.py", "", "", "src/twigcast/tables.py"),
    Planted(module_explains_itself, "tests/a.py", "x = 1", '"""One."""\nx = 1'),
    Planted(
        module_explains_itself,
        "src/twigcast/a/b.py",
        '"""How one adds."""',
        '"""Sums, whatever."""',
    ),
    Planted(room_names_its_face, "src/twigcast/a/__init__.py", "", "__all__ = ['a']"),
    Planted(tests_do_not_sleep, "tests/a.py", "import time\ntime." + "sleep(1)", "time.time()"),
    Planted(tests_do_not_sleep, "tests/a.py", "sleep(1)", "sleep(1)", "src/twigcast/a.py"),
    Planted(tests_can_fail, "tests/test_a.py", "def test_a(): f()", "def test_a(): assert f()"),
    Planted(tests_can_fail, "tests/test_a.py", "x = 1", "def test_a(): assert x"),
    Planted(
        core_takes_time_and_chance_as_arguments,
        "src/twigcast/workload/a.py",
        "import random\nx = random.random()",
        "import random\nrng: random.Random = random.Random(7)",
    ),
    Planted(
        core_takes_time_and_chance_as_arguments,
        "src/twigcast/workload/a.py",
        "from random import choice",
        "from random import Random",
    ),
    Planted(
        core_takes_time_and_chance_as_arguments,
        "src/twigcast/routing/a.py",
        "x = datetime.now()",
        "x = datetime.now()",
        "src/twigcast/network/a.py",
    ),
    Planted(
        core_opens_nothing,
        "src/twigcast/language/a.py",
        "open('a')",
        "open('a')",
        "src/twigcast/files/a.py",
    ),
    Planted(
        only_faces_print, "src/twigcast/files/a.py", "print(1)", "print(1)", "src/twigcast/cli/a.py"
    ),
    Planted(nothing_is_left_open, "src/twigcast/a.py", "# TO" + "DO: later", "# to do it later"),
    Planted(nothing_is_left_open, "tests/a.py", "# enough for " + "now", "# wait for no one"),
    Planted(no_registry_is_named, "constraints.txt", "--index" + "-url x", "lxml==6.1.3"),
    Planted(no_registry_is_named, "README.md", "see https://pypi" + ".org/p", "see the registry"),
    Planted(no_home_is_named, "Makefile", "cd /home" + "/ann/x", "see example.org/home/ann"),
    Planted(no_lock_file, "uv.lock", "", "", "constraints.txt"),
)


def offences(rule: Rule, source: Source) -> list[str]:
    return [f"{source.path}: {offence}" for offence in rule(source)]


def project_paths() -> list[PurePosixPath]:
    """Every file of the project, by what git knows or, without git, by what lies here."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
    else:
        here = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [
            path.as_posix()
            for path in here
            if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
        ]
    return sorted(PurePosixPath(name) for name in names if (ROOT / name).is_file())


@pytest.fixture(scope="module")
def project() -> list[Source]:
    """Every text file of the project."""
    sources = []
    for path in project_paths():
        content = (ROOT / path).read_bytes()
        if b"\0" not in content:
            sources.append(Source(path, content.decode("utf-8", errors="replace")))
    return sources


ALL_RULES = list(dict.fromkeys(planted.rule for planted in RULES))
TEXT_RULES = {
    file_is_short,
    no_lock_file,
    no_registry_is_named,
    no_home_is_named,
    nothing_is_left_open,
}
"""Rules that read any text; the others read Python."""


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.__name__)
def test_the_project_is_tidy(rule: Rule, project: list[Source]) -> None:
    found = [
        offence
        for source in project
        if rule in TEXT_RULES or source.is_python
        for offence in offences(rule, source)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("planted", RULES, ids=lambda planted: planted.rule.__name__)
def test_a_rule_catches_a_planted_offence_and_nothing_else(planted: Planted) -> None:
    bad = Source(PurePosixPath(planted.path), planted.bad)
    good = Source(PurePosixPath(planted.good_path or planted.path), planted.good)
    assert offences(planted.rule, bad)
    assert not offences(planted.rule, good)


def dead_files(tests: list[Source]) -> list[str]:
    """Files below tests that no test reads: neither run, nor imported, nor named anywhere."""
    words = {
        source.path: set(re.findall(r"[\w.-]+", source.text))
        for source in tests
        if source.is_python
    }
    dead = []
    for source in tests:
        path = source.path
        if source.is_python and (
            path.name.startswith("test_") or path.stem in {"conftest", "__init__"}
        ):
            continue
        # A module is named by imports (tests.oracle), a case file by its name or its folder's.
        names = {path.stem, path.name, path.parent.name}
        if source.is_python:
            names = {path.stem, ".".join(path.with_suffix("").parts)}
        others = (said for reader, said in words.items() if reader != path)
        if not any(names & said for said in others):
            dead.append(str(path))
    return dead


def test_no_file_of_the_tests_is_dead(project: list[Source]) -> None:
    assert not dead_files([source for source in project if source.is_test])


def test_a_planted_dead_file_is_found() -> None:
    reader = Source(PurePosixPath("tests/test_a.py"), 'CASES = HERE / "cases"\nimport tests.oracle')
    oracle = Source(PurePosixPath("tests/oracle.py"), "")
    case = Source(PurePosixPath("tests/cases/axes.toml"), "")
    stray = Source(PurePosixPath("tests/old/axes.toml"), "")
    orphan = Source(PurePosixPath("tests/orphan.py"), "")
    assert dead_files([reader, oracle, case]) == []
    assert dead_files([reader, stray, orphan]) == ["tests/old/axes.toml", "tests/orphan.py"]


def test_every_room_has_its_tests(project: list[Source]) -> None:
    rooms = {source.room for source in project if source.room and source.is_python}
    tested = {source.path.parts[1] for source in project if source.is_test}
    assert rooms <= tested
