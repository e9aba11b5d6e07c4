"""The store beyond one machine: Cassandra, one table per question (``cassandra_schema/``, ``docs/cassandra-schema.md``).

::

    SURT ──▶ mementos ─▶ checksum ─▶ payloads ─▶ content ─▶ contents ─▶ outlinks     what did this page link to?
    SURT ──▶ inlinks ──▶ blocks ───▶ content ──▶ checksum ─▶ sightings               who links here, and when?

Rows are packed as in the SQLite store; what differs is where they are found. Every row says which step of the store's history
wrote it (`arclink.store.cassandra.steps`), and a reader believes finished steps only: so a batch, or a takedown, becomes visible as
one step on all nodes, and a load that was killed is loaded again over its own rows.
"""
