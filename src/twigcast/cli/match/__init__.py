"""``twigcast match``."""
