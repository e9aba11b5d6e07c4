"""The MapReduce jobs, one thin class per file: decode, call one function of `arclink`, encode."""
