"""Stage 3, store, first half: links as written become the graph files, joined and inverted."""
