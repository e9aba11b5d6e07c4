"""Stores of the link graph: the protocols, the shared codec, SQLite, Cassandra and the embargo."""
