"""``twigcast generate``."""
