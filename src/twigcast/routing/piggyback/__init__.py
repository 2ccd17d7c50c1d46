"""Deciding annotated documents (Piggyback, sections 3 and 5)."""
