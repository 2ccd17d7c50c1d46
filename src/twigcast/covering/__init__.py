"""When one pattern makes another redundant.

In reading order:

    twig                tree patterns as nodes in arrays
"""

__all__: list[str] = []
