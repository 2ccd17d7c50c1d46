"""Programs that the Makefile calls; they need nothing but Python."""
