"""Stage 4, access: answer queries from a store and write the answers in formats.

`queries` declares the parameters of a query, `answers` reads the answer from the store, `formats`
writes it, and `evidence` reports what happened to each capture. No module here knows HTTP or
the command line; the service and the commands both call this package.
"""
