"""Indexes of changing sets of patterns: who covers whom, and the fewest that cover all."""
