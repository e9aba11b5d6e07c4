"""The embedded store: one SQLite file that keeps sorted runs of compressed blocks."""
