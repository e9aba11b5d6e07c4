"""A Wayback Machine as a source: captures of a list of URIs are downloaded as ordinary WARC files.

A build reads these files like any others.
"""
