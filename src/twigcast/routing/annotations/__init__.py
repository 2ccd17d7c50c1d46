"""Annotations and hints: what brokers tell each other about a document (Piggyback)."""
