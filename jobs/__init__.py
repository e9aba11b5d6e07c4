"""The MapReduce jobs: one class per file, one thin shell each around functions of `arclink`."""
