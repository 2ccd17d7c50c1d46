"""Documents: bytes in, a checked tree out."""
