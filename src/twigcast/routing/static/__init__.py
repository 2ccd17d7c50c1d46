"""Brokers whose tables stand still: all routes of a tree at once."""
