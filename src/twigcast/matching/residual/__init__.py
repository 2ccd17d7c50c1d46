"""Residual conditions, which no index decides: libxml2 behind an estimate of its cost."""
