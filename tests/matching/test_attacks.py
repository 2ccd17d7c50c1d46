"""Attacks are refused by name or answered rightly, and whoever stands beside them is answered.

Nothing is fetched, memory stays bounded, and no expression can keep libxml2 busy for long: it is
decided, or undecided because of its cost, or was never taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pytest

from tests.engines import EVERY_ENGINE, NATIVE
from tests.matching.attacks import ATTACKS, CANARY_TEXT
from twigcast.errors import PatternError
from twigcast.matching import Matcher

GOOD = b"<good><price>5</price></good>"


@pytest.fixture
def canary(tmp_path: Path) -> str:
    """A file that must not be read, by a path that XML may name."""
    path = tmp_path / "canary"
    path.write_text(CANARY_TEXT)
    return str(path)


def watching(engine: str = "auto") -> Matcher:
    matcher = Matcher(engine=engine)
    matcher.add(1, "//price[. = 5]")
    matcher.add(2, "/a")
    matcher.add(3, f"contains(/, '{CANARY_TEXT}')")
    matcher.add(4, f"//@*[contains(., '{CANARY_TEXT}')]")
    return matcher


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_by_name_or_answered_and_stops_nothing(
    name: str, engine: str, canary: str
) -> None:
    make, refusal = ATTACKS[name]
    rows = watching(engine).match_batch(pa.array([GOOD, make(canary), GOOD], pa.binary()))
    assert rows.column("matches").to_pylist() == [[1], None if refusal else [2], [1]]
    error = rows.column("error").to_pylist()[1]
    if refusal is None:
        assert error is None
    else:
        assert refusal in str(error)
        assert len(str(error)) < 300


def test_a_directory_of_the_system_is_no_better_than_a_file() -> None:
    content = b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'
    matcher = Matcher()
    matcher.add(1, "//a[string-length(.) > 0]")
    assert matcher.match(content) == []


def test_no_axis_goes_round_in_circles_behind_an_entity() -> None:
    content = b"<!DOCTYPE a [<!ENTITY e SYSTEM 'x'>]><a><d/>&e;<f>&e;</f><e/></a>"
    matcher = Matcher()
    for number, axis in enumerate(("following", "preceding", "descendant", "following-sibling")):
        matcher.add(number, f"//*[not({axis}::zz)]")
        matcher.add(10 + number, f"//node()[{axis}::zz]")
    assert matcher.match(content) == [0, 1, 2, 3]


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address, and the requests that came in."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CANARY_TEXT.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/canary", seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_nothing_is_fetched_from_the_network(listener: tuple[str, list[str]]) -> None:
    address, seen = listener
    matcher = watching()
    named = [make for name, (make, _) in ATTACKS.items() if make("") != make("x")]
    assert len(named) >= 8
    matcher.match_batch(pa.array([make(address) for make in named], pa.binary()))
    assert seen == []


MEASURE = """
import json, resource, sys
sys.path.insert(0, sys.argv[1])
from tests.matching.attacks import ATTACKS
from twigcast.errors import DocumentError
from twigcast.matching import Matcher
matcher = Matcher()
matcher.add(1, "//a[@b]/c")
matcher.match(b"<a/>")
grown = {}
for name, (make, _) in ATTACKS.items():
    content = make("canary")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        matcher.match(content)
    except DocumentError:
        pass
    grown[name] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
print(json.dumps(grown))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units there")
def test_no_attack_takes_more_than_300_megabytes() -> None:
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", MEASURE, root]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
    grown = json.loads(printed)
    assert grown.keys() == ATTACKS.keys()
    assert sum(grown.values()) < 300, grown


# Expressions.

WIDE = b"<r>%s</r>" % (b"<s><t/><t/></s>" * 700)
"""2,101 elements, as in the measurements that these expressions come from."""


RUNAWAYS = [
    "//*[count(//*[count(../*) > 1]) > count(*)]",
    "//*[count(preceding::*[count(following::*) > 1]) > 1]",
    "//*[following::*[preceding::*[following::*]]]",
    "count(//*[//*[2][//*[2][//*[2]]]]) = 1",
    "//*[. = //*[. = //*[. = 'x' or true()]]]",
    "//t[count(ancestor::*/descendant::*/ancestor::*/descendant::*) > 5]",
    "//*/following::*/preceding::*/following::*/preceding::t",
    "//*//*//*[count(../..//*//*) = 3]",
]


def check_undecided(matcher: Matcher) -> None:
    decision = matcher.decide(WIDE)
    assert (decision.matches, decision.undecided) == ((2,), (1,))
    rows = matcher.match_batch(pa.array([WIDE, b"<u/>", b"<x"], pa.binary()))
    assert rows.column("undecided").to_pylist() == [[1], [], None]
    assert rows.column("matches").to_pylist()[0] == [2]


@pytest.mark.parametrize("xpath", RUNAWAYS)
@pytest.mark.parametrize("engine", ["streaming", "lxml"])
@pytest.mark.usefixtures("without_kernel")
def test_an_expression_that_would_run_away_is_undecided_and_stops_no_other(
    xpath: str, engine: str
) -> None:
    check_undecided(Matcher([xpath, "//t"], engine=engine))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_only_libxml2_can_decide_is_undecided_where_it_would_run_away(engine: str) -> None:
    check_undecided(Matcher(["//*[count(preceding::*/namespace::*) > 9]", "//t"], engine=engine))


@NATIVE
@pytest.mark.parametrize("xpath", RUNAWAYS)
def test_where_libxml2_would_run_away_all_engines_say_what_the_kernel_says(xpath: str) -> None:
    decisions = {
        Matcher([xpath, "//t"], engine=one).decide(WIDE) for one in ("native", "streaming", "lxml")
    }
    assert len(decisions) == 1
    assert 2 in decisions.pop().matches


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_only_looks_costly_is_decided(engine: str) -> None:
    matcher = Matcher(engine=engine)
    matcher.add(1, "//*[count(//*[count(//*) > 0]) > 0]")
    matcher.add(2, "count(//*[//*[//*[//*[//*]]]]) = 0")
    matcher.add(3, "//*[not(//t[not(//s)])]")
    matcher.add(4, "//*//*//*[count(//*//*//*) = 3]")
    decision = matcher.decide(WIDE)
    assert (decision.matches, decision.undecided) == ((1, 3), ())


@pytest.mark.parametrize(
    ("xpath", "function"),
    [
        ("re:test('aaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '^(a+)+$')", "re:test"),
        ("//*[re:match(., '(a|aa)+$')]", "re:match"),
        ("document('file:///etc/passwd')", "document"),
        ("document('http://127.0.0.1/')//x", "document"),
        ("unparsed-entity-uri('x')", "unparsed-entity-uri"),
        ("system-property('xsl:vendor')", "system-property"),
        ("current()/x", "current"),
        ("str:tokenize(//a)", "str:tokenize"),
        ("dyn:evaluate('//a')", "dyn:evaluate"),
        ("matches(//a, 'x')", "matches"),
    ],
)
def test_functions_beyond_the_core_library_do_not_exist(xpath: str, function: str) -> None:
    names = ("regular-expressions", "strings", "dynamic")
    namespaces = {
        prefix: f"http://exslt.org/{name}"
        for prefix, name in zip(("re", "str", "dyn"), names, strict=True)
    }
    with pytest.raises(PatternError) as caught:
        Matcher().add(1, xpath, namespaces)
    assert f"XPath 1.0, but {function}() is a function of" in caught.value.expected


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_hundreds_of_patterns_with_thousands_of_nodes_each_need_no_sorting(engine: str) -> None:
    # libxml2 sorts what a function is given, by walking along siblings: a second for each of
    # these, were its boolean() asked instead of a predicate.
    lines = b"<s x=''>\n" + b"<t x=''/>\n" * 9 + b"</s>\n"
    matcher = Matcher(engine=engine)
    for number in range(100):
        matcher.add(number, f"//*[@x][not(@y{number})]")
        matcher.add(1_000 + number, f"//s[not(.//*[@x][not(@y{number})])]")
    assert matcher.match(b"<r>\n%s</r>" % (lines * 4_000)) == list(range(100))
