"""``twigcast run``."""
