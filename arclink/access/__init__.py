"""Stage 4, access: questions to a store, answered in formats.

`queries` says what is asked, `answers` asks the store, `formats` writes what came back, `explaining` says what became
of each capture. None of them knows HTTP or the command line; both ask here.
"""
