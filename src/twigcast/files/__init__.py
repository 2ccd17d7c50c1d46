"""Reading and writing: subscriptions, documents, topologies, compiled matchers.

The rooms below take bytes and values; here they meet the file system. A bad line, document or
archive member is set aside by name, and everything around it is still read. In reading order:

    opening         paths as they come in, and files that can be read without waiting
    limits          how large documents and archives may be
    notation        TOML and JSON, read within bounds
    subscriptions   subscriptions and changes to them
    documents       documents in files and folders: reading, watching, filing
    archives        documents in zip and tar archives
    schemas         DTDs, shipped and from disk
    topologies      brokers and links
    writing         files that are whole or not there
"""

from __future__ import annotations

from twigcast.files.documents.publications import (
    Entry,
    list_documents,
    open_entries,
    read_documents,
)
from twigcast.files.limits import PublicationLimits
from twigcast.files.subscriptions.file import (
    Rejected,
    Subscription,
    SubscriptionFile,
    SubscriptionId,
    SubscriptionLimits,
    compile_subscriptions,
    gather_subscriptions,
    read_subscriptions,
)
from twigcast.files.topologies import read_topology, topology_text, write_topology
from twigcast.files.writing.versioned_files import VersionedFile, read_index, write_index

__all__ = [
    "Entry",
    "PublicationLimits",
    "Rejected",
    "Subscription",
    "SubscriptionFile",
    "SubscriptionId",
    "SubscriptionLimits",
    "VersionedFile",
    "compile_subscriptions",
    "gather_subscriptions",
    "list_documents",
    "open_entries",
    "read_documents",
    "read_index",
    "read_subscriptions",
    "read_topology",
    "topology_text",
    "write_index",
    "write_topology",
]
