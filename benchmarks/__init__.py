"""What was measured, how, and against whom: benchmarks/README.md."""
