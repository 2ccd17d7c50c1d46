"""Annotations and hints: what brokers send each other about a document (Piggyback)."""
