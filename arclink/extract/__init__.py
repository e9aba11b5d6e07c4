"""Stage 2, extract: read the links that are written in payloads."""
