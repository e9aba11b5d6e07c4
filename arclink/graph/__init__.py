"""Stage 3, store, first half: join and invert turn links as written into the graph files."""
