"""Smaller sets of wider patterns, by merging and aggregation."""
