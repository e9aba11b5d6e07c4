"""Export of captures: WARC and WACZ files, and CDXJ rows or tables that list captures."""
