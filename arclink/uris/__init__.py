"""URIs: resolving links, the key that all variants of a URI share, and the id of that key."""
