"""The graph in files for other tools (``docs/how-to/export.md``).

There are two kinds of files. A *table* has one row per link of each page, and is written while the
store is read: Parquet, the CSV of Archives Unleashed, N-Quads (`scripts`, `exports`). A *graph* has
nodes and counted links at a level. It can be reduced to a size that a picture can show (`graphs`),
and is written as GraphML, GEXF or an arc list (`graph_formats`). Next to each file, a manifest says
what the file contains, what was left out, and why.
"""
