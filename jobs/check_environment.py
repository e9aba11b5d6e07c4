"""Stands in a packed environment (`arclink pack`) and is run by a cluster's Python before the first import of ours.

Uses nothing but what every Python 3 has. Exit 1 with what is wrong, if this is not the Python that the packages were
made for: native modules would fail one by one, with words that say nothing of the cause.
"""

import json
import os
import platform
import socket
import sys

MARK = "arclink-environment.json"


def describe() -> "dict[str, str]":  # quoted: an old Python 3 is to get as far as the message
    """Return what packages are made for: Python's version without its last number, the system, the processor."""
    return {"python": ".".join(platform.python_version_tuple()[:2]), "system": platform.system(), "machine": platform.machine()}


def main() -> None:
    """Compare this Python with the mark beside this file."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), MARK)) as file:
        wanted = json.load(file)["made for"]
    found = describe()
    wrong = [f"{name} {found[name]} instead of {wanted[name]}" for name in sorted(wanted) if found[name] != wanted[name]]
    if wrong:
        sys.exit(
            "arclink: the packed environment does not fit the Python {} of the worker {}: {}; pack it on a machine like the "
            "workers, or name a fitting Python as python_bin (docs/engines.md)".format(
                sys.executable, socket.gethostname(), ", ".join(wrong)
            )
        )


if __name__ == "__main__":
    main()
