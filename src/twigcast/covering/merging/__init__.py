"""Fewer patterns by merging and aggregation."""
