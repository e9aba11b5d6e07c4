"""The codec that both stores share: rows of the link graph as compressed blocks."""
