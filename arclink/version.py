"""The version of ArcLink, for the package, answers, manifests and requests."""

VERSION = "0.1.0"
