"""The version of ArcLink, for the package, answers, manifests and requests."""

import platform

VERSION = "0.2.0"

AGENT = f"arclink/{VERSION}"
"""The User-Agent of every HTTP request (RFC 9110, 10.1.5)."""


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of ArcLink, of Python and of packages, for manifests."""
    from importlib.metadata import PackageNotFoundError, version  # here: it delays each start

    versions = {"arclink": VERSION, "python": platform.python_version()}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions
