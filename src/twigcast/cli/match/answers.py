"""The answers of ``match``: each is printed and counted, and its document is filed.

Answers go to standard output as they come. What is refused, undecided or cannot be filed is named
on standard error; what to do about it stands there once, at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from twigcast.cli.match.filing import Filed
from twigcast.cli.options.document_limits import stopped_by
from twigcast.cli.output import (
    Shown,
    cell,
    complain,
    unspaced,
    write,
    write_json,
    write_note,
    write_sums,
)
from twigcast.display import counted
from twigcast.errors import DocumentError, InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from twigcast.cli.match.filing import Filing
    from twigcast.cli.match.jobs import Answered
    from twigcast.files import SubscriptionFile, SubscriptionId
    from twigcast.matching import Decision

_HINTED_MAX = 10
"""Ids that the hint at the end names."""


@dataclass
class Answers:
    """The answers so far, and their sums."""

    file: SubscriptionFile
    filing: Filing | None
    as_json: bool
    documents: int = 0
    matches: int = 0
    refused: int = 0
    failed: int = 0
    """Documents that something is undecided about, or that could not be filed."""
    _costly: dict[SubscriptionId, None] = field(default_factory=dict)

    def take(self, answered: Answered) -> None:
        """Print the answer on a document, and file it."""
        self.documents += 1
        if isinstance(answered.answer, DocumentError | InternalError):
            self._refuse(answered.name, answered.answer)
            return
        decision = answered.answer
        filed = Filed()
        if self.filing is not None and decision.matches:
            assert isinstance(answered.content, bytes)
            filed = self.filing.put(
                answered.entry,
                answered.name,
                answered.content,
                [self.file.subscriptions[position] for position in decision.matches],
                undecided=bool(decision.undecided),
            )
        self.matches += len(decision.matches)
        self.failed += bool(decision.undecided) or not filed.complete
        self._print(answered.name, decision, filed.fields)

    def _refuse(self, name: str, error: DocumentError | InternalError) -> None:
        self.refused += 1
        reason = stopped_by(error) if isinstance(error, DocumentError) else str(error)
        if self.as_json:
            write_json({"document": name, "error": reason})
        else:
            complain(f"{name}: {reason}")

    def _print(self, name: str, decision: Decision, filed: Mapping[str, object]) -> None:
        matches, undecided = self._ids(decision.matches), self._ids(decision.undecided)
        self._costly.update(dict.fromkeys(undecided))
        if self.as_json:
            doubts = {"undecided": undecided} if undecided else {}
            write_json({"document": name, "matches": matches, **doubts, **filed})
            return
        write(cell(name), Shown(_listed(matches)))
        if undecided:
            ids = _listed(undecided)
            complain(f"{name}: too costly to decide on this document: {ids}")

    def _ids(self, positions: Iterable[int]) -> list[SubscriptionId]:
        return [self.file.subscriptions[position].id for position in positions]

    def finish(self, *, since: float) -> None:
        """Write the sums, below what to do about expressions that were too costly."""
        if self._costly:
            ids = list(self._costly)
            more = " …" if len(ids) > _HINTED_MAX else ""
            write_note(
                "what is too costly can be asked in a simpler way (name elements instead of *, "
                "count once), or raise --document-cost-max where many are, or raise "
                f"--residual-cost-max: {_listed(ids[:_HINTED_MAX])}{more}"
            )
        sums = [counted(self.documents, "document"), counted(self.matches, "match", "matches")]
        if self.filing is not None:
            sums.append(self.filing.sums)
        sums += [
            f"{number:,} {what}"
            for number, what in ((self.refused, "refused"), (self.failed, "incomplete"))
            if number
        ]
        write_sums(", ".join(sums), since=since)


def _listed(ids: Iterable[SubscriptionId]) -> str:
    """Ids with spaces between them, and none within."""
    return " ".join(unspaced(str(each)) for each in ids)
