"""Captures: where their records are, what is in them, their orders, and files of them."""
