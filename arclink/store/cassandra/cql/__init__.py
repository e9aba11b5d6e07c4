"""The Cassandra schema: numbered CQL files, applied in their order by ``arclink schema apply``."""
