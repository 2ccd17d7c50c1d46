"""Schemas: DTDs read, written and measured, without touching disk or network."""
