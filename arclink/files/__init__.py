"""Files that ArcLink writes: either whole or not at all, and with checksums."""
