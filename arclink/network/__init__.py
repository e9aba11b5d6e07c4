"""Requests to other machines: one HTTP client, and one rule for repeated attempts.

Other rooms have their own rules in addition: politeness to an archive
(`arclink.others.wayback.client`), the limits of a federated query
(`arclink.others.federation.requests`), and ranges over the protocols of fsspec
(`arclink.archives.remote`).
"""
