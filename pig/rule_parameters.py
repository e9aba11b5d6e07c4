"""The parameters of filter.pig and table2.pig for a file of filter rules, so that Pig and ArcLink are told the same.

    python pig/rule_parameters.py rules.json > rules.pig        # without a file: the rules that hold by default

Each list of docs/filter.md becomes one regular expression of Java; an empty list one that nothing fails.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from arclink.filter.cdx import EMPTY_CHECKSUMS
from arclink.filter.rules import Rules

ANYTHING = ".*"
NOTHING = "(?!)"


def parameters(rules: Rules) -> dict[str, str]:
    """Return Pig's parameters by name."""
    return {
        "STATUSES": _any(rules.statuses, ANYTHING),
        "MIMES": _any(rules.mimes, ANYTHING),
        "MIMES_EXCLUDED": _any(rules.mimes_excluded, NOTHING),
        "EXTENSIONS_EXCLUDED": _any(rules.extensions_excluded, NOTHING),
        "PREFIXES": _any((f"{prefix}*" for prefix in rules.prefixes), ANYTHING),
        "FIRST": rules.first,
        "LAST": rules.last,
        "REDIRECTS": "3(?!04)[0-9][0-9]" if rules.read_redirects else NOTHING,
        # Without the checksum rule every capture is read by itself, as one without checksum is.
        "UNDIGESTED": _any(("-", *EMPTY_CHECKSUMS), NOTHING) if rules.checksum else ANYTHING,
    }


def _any(patterns: Iterable[str], none: str) -> str:
    """Return one expression for patterns in which only ``*`` is special; ``none`` if there are none."""
    found = [".*".join(_literal(part) for part in pattern.split("*")) for pattern in sorted(patterns)]
    return "|".join(found) or none


def _literal(text: str) -> str:
    """Return an expression for a text; a class of one character needs no backslash, which Pig would take for its own."""
    return re.sub(r"([^A-Za-z0-9/_,: -])", r"[\1]", text)


def main() -> None:
    """Print the parameters, one a line."""
    rules = Rules.from_json(Path(sys.argv[1]).read_bytes()) if len(sys.argv) > 1 else Rules()
    for name, value in parameters(rules).items():
        print(f'{name}="{value}"')


if __name__ == "__main__":
    main()
