"""Streams of captures: each capture once, in a chosen order; clients can continue after a break."""
