"""The plans by which documents are routed: ``fused``, ``sharded``, ``hops``."""
