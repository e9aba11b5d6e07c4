"""Stage 1, filter: rows of CDX files become mementos, and pointers to what is worth reading."""
