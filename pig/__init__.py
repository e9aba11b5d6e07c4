"""Pig Latin scripts that query CDX and graph files, and the Python scripts that they call."""
