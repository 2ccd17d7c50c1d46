"""When one pattern covers another: twigs, homomorphisms, canonical models, schemas."""
