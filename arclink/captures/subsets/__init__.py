"""Subsets: selections of captures, defined once and used by every command."""
