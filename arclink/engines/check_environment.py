"""Check of a packed environment (`arclink pack`), run on a worker before any other import.

The script is copied into the environment and run by the worker's Python. It uses only modules that
every Python 3 has. It exits with code 1 and a message if this is not the Python that the packages
were made for; otherwise native modules would fail one by one, with messages that do not name the
cause.
"""

import json
import os
import platform
import socket
import sys

MARK = "arclink-environment.json"


def describe() -> "dict[str, str]":  # quoted, so that an old Python 3 reaches the message
    """Return the Python version (major, minor), system and processor of this machine."""
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def main() -> None:
    """Compare this Python with the mark file next to this script.

    Exit with a message on mismatch.
    """
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), MARK)) as file:
        wanted = json.load(file)["made for"]
    found = describe()
    wrong = [
        f"{name} {found[name]} instead of {wanted[name]}"
        for name in sorted(wanted)
        if found[name] != wanted[name]
    ]
    if wrong:
        sys.exit(
            "arclink: the packed environment does not fit the Python {} of the worker {}: "
            "{}; pack it on a machine like the workers, or set python_bin to a matching Python "
            "(docs/how-to/engines.md)".format(
                sys.executable, socket.gethostname(), ", ".join(wrong)
            )
        )


if __name__ == "__main__":
    main()
