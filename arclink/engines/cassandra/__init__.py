"""The store in a Cassandra cluster, for graphs beyond one machine: one table per kind of query.

::

    outlinks:  SURT ──▶ mementos ─▶ checksum ─▶ payloads ─▶ content ─▶ contents ─▶ outlinks
    inlinks:   SURT ──▶ inlinks ──▶ blocks ───▶ content ──▶ checksum ─▶ sightings

Outlinks answer what a page linked to; inlinks and sightings answer which pages link to it, and
when. The tables are in ``cassandra_schema/``, to which ``cql`` is a link;
``docs/reference/cassandra-schema.md`` describes them.

Rows are packed as in the SQLite store, but are stored under other keys. Every row names the step of
the store's history that wrote it (`arclink.engines.cassandra.steps`), and readers use rows of
finished steps only. So a batch, or a takedown, becomes visible as one step on all nodes, and a
killed load writes the same rows again when it is repeated.
"""
