"""Stage 2, extract: payloads become the links written in them."""
