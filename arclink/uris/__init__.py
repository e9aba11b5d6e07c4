"""URIs: how a link resolves, which key it is found under, and the id of that key."""
