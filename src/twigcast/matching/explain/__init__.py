"""Explanations why a document matches or not, and the nodes that made it match."""
