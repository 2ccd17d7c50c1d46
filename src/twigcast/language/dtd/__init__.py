"""Schemas: DTDs read, written and analysed, without access to disk or network."""
