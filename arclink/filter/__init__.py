"""Stage 1, filter: CDX rows become mementos, and pointers to the records worth reading."""
