"""Documents that travel path by path (Dissemination, 1.4.1)."""
