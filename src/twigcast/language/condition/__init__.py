"""Conditions: the meaning of an expression, in one canonical form."""
