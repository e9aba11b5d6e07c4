"""Tests of the web pages in a real browser (`make test-browser`)."""
