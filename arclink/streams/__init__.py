"""Streams of captures: every capture once, in an order, and continued after any interruption."""
