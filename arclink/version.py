"""The version of ArcLink, for the package, answers, manifests and requests."""

VERSION = "0.1.0"

AGENT = f"arclink/{VERSION}"
"""The User-Agent of every HTTP request (RFC 9110, 10.1.5)."""
