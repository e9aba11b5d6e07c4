"""The ``arclink`` command line: one module per command."""
