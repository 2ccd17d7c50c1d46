"""The matcher and the network for short programs, which take paths of files.

The rooms below do no I/O. Here the same matcher takes paths of documents and files of rules, and
the same network takes the path of a topology file. ``twigcast.Matcher``, ``twigcast.Network`` and
``twigcast.explain`` are those of this room.

    documents       a document by its path
    matcher         Matcher, with from_file
    network         Network, of a topology file
    explaining      explain, with documents by their paths

Import from these modules: whoever matches need not load what a network takes.
"""

from __future__ import annotations

__all__: list[str] = []
