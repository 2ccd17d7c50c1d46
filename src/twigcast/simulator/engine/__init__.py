"""Simulated time: events, links, the oracle, and the record of a run."""
