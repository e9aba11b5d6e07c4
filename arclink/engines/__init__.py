"""Engines with many machines: Hadoop, Spark and EMR; HDFS and S3; the store in Cassandra."""
