"""Brokers and links, and the tree that documents travel along."""
