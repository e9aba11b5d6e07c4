"""Captures in files of their own: WARC, WACZ, CDXJ and tables."""
