"""Who receives what: a file of subscriptions against a folder of documents, in one process.

    python examples/match_folder.py subscriptions.csv feed/

Prints a line per subscriber with the documents that reach them. Whatever cannot be read, in the
subscriptions or in the folder, is told on standard error and stops nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from twigcast import DocumentError, Matcher
from twigcast.files import (
    SubscriptionFile,
    compile_subscriptions,
    read_documents,
    read_subscriptions,
)


def main() -> int:
    """Read, match, print; the exit code is 1 if anything was refused."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("subscriptions")
    arguments.add_argument("folder")
    given = arguments.parse_args()
    matcher = Matcher()
    file = read_subscriptions(given.subscriptions)
    rejected = file.rejected + compile_subscriptions(file, matcher.add)
    for line in rejected:
        complain(f"{given.subscriptions}, line {line.line}: {line.reason}")
    received, refused = match_all(matcher, file, given.folder)
    for subscriber, documents in sorted(received.items()):
        print(f"{subscriber}: {', '.join(documents)}")
    return 1 if rejected or refused else 0


def match_all(
    matcher: Matcher, file: SubscriptionFile, folder: str
) -> tuple[dict[str, list[str]], int]:
    """The documents that each subscriber receives, and how many documents were refused."""
    received: dict[str, list[str]] = defaultdict(list)
    refused = 0
    for name, content in read_documents(folder):
        try:
            if isinstance(content, DocumentError):
                raise content
            positions = matcher.match(content)
        except DocumentError as error:
            refused += 1
            complain(f"{name}: {error.reason}")
            continue
        # The matcher knows subscriptions by their position in the file. A subscriber may have
        # several that match, and still receives the document once.
        subscribers = {file.subscriptions[position].subscriber for position in positions}
        for subscriber in subscribers:
            received[subscriber or "nobody in particular"].append(name)
    return received, refused


def complain(text: str) -> None:
    """Say something beside the output."""
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
