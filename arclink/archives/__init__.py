"""Archive files at any place: WARC, ARC, WAT and WACZ, on a disk, over HTTP, in S3 or in HDFS."""
