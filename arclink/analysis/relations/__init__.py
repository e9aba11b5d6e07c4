"""The graph as two relations in Parquet files, for SQL: captures, and links by content."""
