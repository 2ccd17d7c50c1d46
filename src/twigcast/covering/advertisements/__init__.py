"""Advertisements: the shapes of documents that a publisher keeps to."""
