"""Stores of the link graph: the protocols, the shared codec, SQLite and the embargo."""
