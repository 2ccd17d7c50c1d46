"""Forwarding: the patterns and advertisements that a broker sends over each link."""
