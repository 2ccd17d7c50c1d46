"""What a matcher counts: :mod:`twigcast.matching.interface.statistics`."""

import pytest

from twigcast.errors import DocumentError, UsageError
from twigcast.matching.interface.statistics import MatcherTally


def _counts(tally: MatcherTally) -> tuple[int, int, int, int]:
    return tally.documents, tally.refused, tally.internal_errors, tally.undecided


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (DocumentError("broken"), (1, 1, 0, 0)),
        (UsageError("no such id"), (1, 0, 0, 0)),
        (UserWarning("made an error"), (1, 0, 0, 0)),
        (KeyError("b"), (1, 0, 1, 0)),
        (KeyboardInterrupt(), (1, 0, 0, 0)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_failure_is_counted_by_its_kind_and_gets_through(
    error: BaseException, counts: tuple[int, int, int, int]
) -> None:
    tally = MatcherTally()
    with pytest.raises(type(error)), tally:
        raise error
    assert _counts(tally) == counts


def test_a_document_without_a_failure_is_counted_and_nothing_else() -> None:
    tally = MatcherTally()
    for _ in range(3):
        with tally:
            pass
    assert _counts(tally) == (3, 0, 0, 0)


def test_what_happens_elsewhere_is_added() -> None:
    tally = MatcherTally()
    tally.add(documents=7)
    tally.add(undecided=2)
    assert _counts(tally) == (7, 0, 0, 2)


def test_one_tally_serves_documents_inside_each_other() -> None:
    tally = MatcherTally()
    with pytest.raises(DocumentError), tally, tally:
        raise DocumentError("broken")
    assert _counts(tally) == (2, 2, 0, 0)
