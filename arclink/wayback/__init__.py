"""A Wayback Machine as a source: what a list of URIs has there becomes ordinary WARC files, which a build reads as any other."""
