"""Why do these subscriptions never match? For each of them, the document that came closest.

    python examples/why_silent.py subscriptions.txt feed.zip

Matches all documents first. For every subscription without a single match, it explains the
expression on some of the documents and prints the explanation that got furthest.
"""

from __future__ import annotations

import argparse
from itertools import islice

from twigcast import Document, DocumentError, Matcher, explain
from twigcast.files import Subscription, compile_subscriptions, read_documents, read_subscriptions

EXPLAINED_MAX = 50
"""Explaining costs more than matching, so only so many documents are looked at."""


def main() -> None:
    """Print an explanation for each silent subscription."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("subscriptions")
    arguments.add_argument("documents")
    given = arguments.parse_args()
    matcher = Matcher()
    file = read_subscriptions(given.subscriptions)
    compile_subscriptions(file, matcher.add)
    documents = readable(given.documents)
    matched = {position for document in documents for position in matcher.match(document)}
    for position, subscription in enumerate(file.subscriptions):
        if position in matcher and position not in matched:
            print(f"{subscription.id}: {closest(subscription, documents)}\n")


def readable(path: str) -> list[Document]:
    """The documents that can be read; the others are not what is asked about here."""
    found = []
    for name, content in read_documents(path):
        try:
            if isinstance(content, bytes):
                found.append(Document.parse(content, name=name))
        except DocumentError:
            continue
    return found


def closest(subscription: Subscription, documents: list[Document]) -> str:
    """The explanation that leads to the deepest place in a document."""
    explained = [
        (document.name, explain(subscription.xpath, document, subscription.namespaces))
        for document in islice(documents, EXPLAINED_MAX)
    ]
    if not explained:
        return "there are no documents"
    name, best = max(explained, key=lambda pair: (pair[1].place or "").count("/"))
    return f"{name}\n{best.text}"


if __name__ == "__main__":
    main()
