"""Requests to other machines: one HTTP client, one rule for repeated attempts, and HDFS.

Other rooms have their own rules in addition: politeness to an archive
(`arclink.others.wayback.client`), the limits of a federated query
(`arclink.others.federation.requests`), and ranges over the protocols of fsspec
(`arclink.archives.remote`).
"""
