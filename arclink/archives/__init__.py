"""Archive files wherever they are: WARC, ARC, WAT, WACZ, on a disk, over HTTP, in S3 or in HDFS."""
