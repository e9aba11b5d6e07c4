"""The rows that travel between the stages, with one reader and one writer for each kind of row."""
