"""The benchmarks of ArcLink and of comparable programs; ``benchmarks/README.md`` describes them."""
