"""A build: batches of archive files taken through all stages, on any runner."""
