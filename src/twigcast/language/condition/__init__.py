"""Conditions: what an expression asks of a document, in one canonical form."""
