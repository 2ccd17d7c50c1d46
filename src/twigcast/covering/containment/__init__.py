"""Containment of one pattern in another: twigs, homomorphisms, canonical models, schemas."""
