"""The graph in files that other tools open (``docs/export.md``).

Two kinds of file. A *table* has a row for each link of each page, written while the store is read: Parquet, the CSV of Archives
Unleashed, N-Quads (`tables`). A *graph* has nodes and counted links at a level (`graphs`), may be cut to a size that a picture can show
(`cutting`), and is written as GraphML, GEXF or an arc list. Beside each file stands a manifest that says what is in it, what was
cut, and why.
"""
